/** Runs the checks of a presentation in their order. The first that fails ends them. */
import { VerificationError } from '../credentials/verification-error.ts'
import type { CheckName, PresentationCheck } from './presented.ts'

/** A check throws a `VerificationError` if it fails, and a `Problem` when it is temporarily impossible. */
export type Check = [name: CheckName, run: () => unknown]

/** @throws {Problem} `error:ServiceUnavailable` when a check is temporarily impossible */
export async function runChecks(
  checks: readonly Check[],
  credentialId?: string,
): Promise<PresentationCheck[]> {
  const results: PresentationCheck[] = []
  for (const [name, run] of checks) {
    const about = { ...(credentialId !== undefined && { credentialId }), name }
    if (results.some(({ result }) => result === 'failed')) {
      results.push({ ...about, result: 'skipped' })
      continue
    }
    const reason = await findFailure(run)
    results.push(
      reason === undefined ? { ...about, result: 'passed' } : { ...about, result: 'failed', reason },
    )
  }
  return results
}

async function findFailure(run: Check[1]): Promise<string | undefined> {
  try {
    await run()
    return undefined
  } catch (error) {
    if (error instanceof VerificationError) return error.message
    throw error
  }
}

/** Runs the checks up to the first that fails. @throws its `VerificationError`; {Problem} as `runChecks` */
export async function runAll(checks: readonly Check[]): Promise<void> {
  for (const [, run] of checks) await run()
}

/** The first failed check with its reason. Undefined if none failed. */
export function describeFailed(checks: readonly PresentationCheck[]): string | undefined {
  const failed = checks.find(({ result }) => result === 'failed')
  return (
    failed &&
    [failed.credentialId, failed.name, failed.reason].filter((part) => part !== undefined).join(': ')
  )
}
