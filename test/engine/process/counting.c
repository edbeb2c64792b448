double count(double from, double to) {
  while (from < to) from += 1;
  return from;
}

void hang(void) {
  for (volatile int go = 1; go;) continue;
}

void crash(void) { *(volatile int *)0 = 0; }
