/** Ends a command that would go on for ever, in good order. */

/** Aborts `signal` at Ctrl-C, at SIGTERM and when nobody reads the output any more; `interrupted` is then the exit code: 130, or else 0. */
export function interruption(): { signal: AbortSignal; interrupted: () => number } {
  const ending = new AbortController()
  let exitCode = 0
  process.once('SIGINT', () => {
    exitCode = 130
    ending.abort()
  })
  process.once('SIGTERM', () => ending.abort())
  // Nobody reads on: `agent event tail | head -1`.
  process.stdout.once('error', () => ending.abort())
  return { signal: ending.signal, interrupted: () => exitCode }
}
