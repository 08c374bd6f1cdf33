/**
 * Counts wrong tokens by the address they come from.
 *
 * 1. Past `limit` in a window of a minute, an address is told to wait for the rest of the window.
 * 2. What is told to the audit is told in sums: when the limit is passed, and at the end of the window if there were
 *    more. So a flood of guesses is no flood of events.
 * 3. What is remembered is bounded; the oldest window is forgotten first, its sum told.
 */
export interface Guesses {
  /** How many seconds to wait, if there were too many. */
  note(address: string): number | undefined;
  close(): void;
}

export type Audit = (guessed: { readonly address: string; readonly attempts: number }) => unknown;

const windowMs = 60_000;
const limit = 20;
const addresses = 1000;

export function openGuesses(audit: Audit, now: () => number): Guesses {
  const windows = new Map<string, Window>();

  return {
    note(address) {
      const window = openWindow(address);
      window.attempts += 1;
      if (window.attempts <= limit) return undefined;
      if (window.told === 0) tell(address, window);
      return Math.max(1, Math.ceil((window.ends - now()) / 1000));
    },
    close() {
      for (const address of windows.keys()) forget(address);
    },
  };

  function openWindow(address: string): Window {
    const known = windows.get(address);
    if (known !== undefined && known.ends > now()) return known;
    forget(address);
    const [oldest] = windows.keys();
    if (windows.size >= addresses && oldest !== undefined) forget(oldest);
    const timer = setTimeout(() => forget(address), windowMs).unref();
    const window = { ends: now() + windowMs, attempts: 0, told: 0, timer };
    windows.set(address, window);
    return window;
  }

  function forget(address: string): void {
    const window = windows.get(address);
    if (window === undefined) return;
    clearTimeout(window.timer);
    windows.delete(address);
    if (window.attempts > Math.max(limit, window.told)) tell(address, window);
  }

  function tell(address: string, window: Window): void {
    const attempts = window.attempts - window.told;
    window.told = window.attempts;
    audit({ address, attempts });
  }
}

interface Window {
  readonly ends: number;
  readonly timer: NodeJS.Timeout;
  attempts: number;
  told: number;
}
