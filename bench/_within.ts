/** Runs a scenario with a time limit, so that an error or a hang fails that scenario alone. */
import type { Outcome } from './_scenarios.ts'

export type Within<T> = T & {
  /** It was not waited for any longer, and may still be doing something. */ isHanging: boolean
}

/** Runs a scenario. Returns errors and timeouts as texts. */
export async function withinMinutes(minutes: number, run: () => Promise<Outcome>): Promise<Within<Outcome>> {
  let timer: NodeJS.Timeout | undefined
  const tooLong = new Promise<Within<Outcome>>((resolve) => {
    const failures = [`it was not done after ${minutes} minutes`]
    timer = setTimeout(() => resolve({ tables: [], failures, isHanging: true }), minutes * 60_000)
  })
  try {
    return await Promise.race([run().then((outcome) => ({ ...outcome, isHanging: false })), tooLong])
  } catch (error) {
    return { tables: [], failures: [(error as Error).message], isHanging: false }
  } finally {
    clearTimeout(timer)
  }
}
