/** Runs the checks of a presentation in their order. The first that fails ends them. */
import { VerificationError } from '../codecs/verification-error.ts'
import type { CheckName, PresentationCheck } from './presented.ts'

/** A check throws a `VerificationError` if it fails, and a `Problem` when it is temporarily impossible. */
export type Check = [name: CheckName, run: () => unknown]

/** @throws {Problem} `error:ServiceUnavailable` when a check is temporarily impossible */
export async function runChecks(
  checks: readonly Check[],
  credentialId?: string,
): Promise<PresentationCheck[]> {
  const results: PresentationCheck[] = []
  let hasFailed = false
  for (const [name, run] of checks) {
    const about = { ...(credentialId !== undefined && { credentialId }), name }
    if (hasFailed) {
      results.push({ ...about, result: 'skipped' })
      continue
    }
    try {
      const running = run()
      // Most checks compute. Waiting for a value costs a promise.
      if (running instanceof Promise) await running
      results.push({ ...about, result: 'passed' })
    } catch (error) {
      if (!(error instanceof VerificationError)) throw error
      results.push({ ...about, result: 'failed', reason: error.message })
      hasFailed = true
    }
  }
  return results
}

/** Runs the checks up to the first that fails. @throws its `VerificationError`; {Problem} as `runChecks` */
export async function runAll(checks: readonly Check[]): Promise<void> {
  for (const [, run] of checks) {
    const running = run()
    if (running instanceof Promise) await running
  }
}

/** The first failed check with its reason. Undefined if none failed. */
export function describeFailed(checks: readonly PresentationCheck[]): string | undefined {
  const failed = checks.find(({ result }) => result === 'failed')
  return (
    failed &&
    [failed.credentialId, failed.name, failed.reason].filter((part) => part !== undefined).join(': ')
  )
}
