"""Open WebUI's own document loader with a running svc. The application itself is not loaded: the loader needs
only two of its modules, which define the logging and the headers with user names."""

import os
import sys
import tempfile
from importlib.metadata import distribution, version
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import requests
from PIL import Image, ImageDraw, ImageFont

from harness import check, run_checks

V1 = os.environ["SVC_URL"] + "/v1"


def module(name, **values):
    made = ModuleType(name)
    vars(made).update(values)
    sys.modules[name] = made
    return made


module("open_webui")
module("open_webui.env", ENABLE_FORWARD_USER_INFO_HEADERS=False, GLOBAL_LOG_LEVEL="WARNING")
module("open_webui.utils")
module("open_webui.utils.headers", include_user_info_headers=lambda headers, user: headers)
PATH = distribution("open-webui").locate_file("open_webui/retrieval/loaders/mistral.py")
spec = spec_from_file_location("mistral_loader", PATH)
loader = module_from_spec(spec)
spec.loader.exec_module(loader)


def scan(folder):
    """Returns a document of two pages without embedded text."""
    pages = []
    for words in ("The harbour office opens at nine.", "Payment is due within thirty days."):
        page = Image.new("RGB", (900, 300), "white")
        ImageDraw.Draw(page).text((60, 100), words, fill="black", font=ImageFont.load_default(40))
        pages.append(page)
    path = Path(folder) / "scan.pdf"
    pages[0].save(path, resolution=100, save_all=True, append_images=pages[1:])
    return str(path)


def pages_of(**extra):
    with tempfile.TemporaryDirectory() as folder:
        return loader.MistralLoader(base_url=V1, api_key="unused", file_path=scan(folder), **extra).load()


def are_read(documents):
    assert [document.metadata["page"] for document in documents] == [0, 1], documents
    assert documents[0].page_content.strip() == "The harbour office opens at nine.", documents[0]
    assert documents[1].page_content.strip() == "Payment is due within thirty days.", documents[1]


@check
def an_uploaded_document_is_read_page_by_page_and_deleted():
    def files():
        return {file["id"] for file in requests.get(V1 + "/files", timeout=30).json()["data"]}

    before = files()
    are_read(pages_of())
    assert files() == before, "the document stayed"


@check
def a_document_within_the_request_is_read():
    are_read(pages_of(use_base64=True))


run_checks(f"open-webui {version('open-webui')}")
