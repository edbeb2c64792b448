double count(double from, double to) {
  while (from < to) from += 1;
  return from;
}

void crash(void) { *(volatile int *)0 = 0; }
