class Svc < Formula
  desc "{{description}}"
  homepage "{{homepage}}"
  version "{{version}}"
  license "MIT"

  on_macos do
    on_arm do
      url "{{download}}/{{file:svc:darwin-arm64}}"
      sha256 "{{sha256:svc:darwin-arm64}}"
    end
    on_intel do
      url "{{download}}/{{file:svc:darwin-x64}}"
      sha256 "{{sha256:svc:darwin-x64}}"
    end
  end

  on_linux do
    on_arm do
      url "{{download}}/{{file:svc:linux-arm64}}"
      sha256 "{{sha256:svc:linux-arm64}}"
    end
    on_intel do
      url "{{download}}/{{file:svc:linux-x64}}"
      sha256 "{{sha256:svc:linux-x64}}"
    end
  end

  def install
    bin.install "svc"
    man1.install "svc.1.gz"
    bash_completion.install "completions/svc.bash" => "svc"
    zsh_completion.install "completions/_svc"
    fish_completion.install "completions/svc.fish"
  end

  service do
    run [opt_bin/"svc", "serve"]
    keep_alive crashed: true
    log_path var/"log/svc.log"
    error_log_path var/"log/svc.log"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/svc --version")
    system bin/"svc", "--cache-dir", testpath/"cache", "self-test"
  end
end
