/** Load on a daemon: an operation that runs many times, concurrently. */

/** After this many failures in a row, no more operations start. */
const patience = 10

type Limits = { concurrency: number; seconds: number; most?: number }

/** The milliseconds of each operation that succeeded, the number of failures, and up to five reasons. */
export type Loaded = { times: number[]; failed: number; reasons: string[] }

/**
 * Runs an operation concurrently, up to a number of seconds and of operations. Lists each reason of failure
 * once.
 *
 * @throws if none succeeded
 */
export async function load(
  once: () => Promise<unknown>,
  { concurrency, seconds, most = Infinity }: Limits,
): Promise<Loaded> {
  const times: number[] = []
  const reasons = new Set<string>()
  const end = performance.now() + seconds * 1_000
  let started = 0
  let failed = 0
  let failedInARow = 0
  const runOne = async () => {
    for (
      let from = performance.now();
      from < end && started < most && failedInARow < patience;
      from = performance.now()
    ) {
      started++
      try {
        await once()
        times.push(performance.now() - from)
        failedInARow = 0
      } catch (error) {
        failed++
        failedInARow++
        reasons.add((error as Error).message.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '…'))
      }
    }
  }
  await Promise.all(Array.from({ length: concurrency }, runOne))
  if (times.length === 0) throw new Error(`no flow succeeded: ${[...reasons].join('; ')}`)
  const listed = [...reasons].slice(0, 5)
  return {
    times,
    failed,
    reasons: listed.map((reason) => `${failed} of ${failed + times.length} failed: ${reason}`),
  }
}
