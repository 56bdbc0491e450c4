/** Whether a credential still stands, said rather than enforced (ours): for whoever looks at a credential of its own. */
import { z } from 'zod'
import { Problem } from '../base/problem.ts'
import { reasonOf } from '../base/reason.ts'
import type { DecodedCredential } from '../credentials/credential.ts'
import { NotStandingError } from '../credentials/status-list.ts'
import { VerificationError } from '../credentials/verification-error.ts'
import { UnreachableError } from '../net/unreachable-error.ts'
import type { Environment } from '../wallet/environment.ts'
import { statusChecks } from './check.ts'

export const Standing = z
  .object({
    status: z
      .enum(['not-revoked', 'revoked', 'suspended', 'unknown'])
      .describe(
        'What its status list says now; `unknown` when the list cannot be had, is not its issuer’s, or is not understood.',
      ),
    detail: z.string().optional().describe('Why it is unknown, or why nobody could revoke it.'),
  })
  .meta({ id: 'CredentialStanding' })
export type Standing = z.infer<typeof Standing>

/** Asks the lists that a credential names; one that says no outweighs all others, and one that cannot be asked outweighs those that say yes. */
export async function findStanding(
  env: Environment,
  { statuses, issuerDid }: Pick<DecodedCredential, 'statuses' | 'issuerDid'>,
): Promise<Standing> {
  if (statuses.length === 0)
    return { status: 'not-revoked', detail: 'it names no status list, so nobody can revoke it' }
  const { checkStatus } = statusChecks(env)
  let unknown: Standing | undefined
  for (const status of statuses) {
    try {
      await checkStatus(status, { issuerDid })
    } catch (error) {
      if (error instanceof NotStandingError) return { status: error.standing }
      if (!(
        error instanceof VerificationError ||
        error instanceof UnreachableError ||
        error instanceof Problem
      ))
        throw error
      unknown ??= { status: 'unknown', detail: reasonOf(error) }
    }
  }
  return unknown ?? { status: 'not-revoked' }
}
