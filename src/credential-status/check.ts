/** Whether a credential still stands, found out before it is accepted (wire.md 5.3 point 6, decisions.md §6). */
import { isTemporary } from '../base/problem.ts'
import type { CredentialStatus, DecodedCredential } from '../credentials/credential.ts'
import { checkStatusList, readStatusEntry } from '../credentials/status-list.ts'
import { VerificationError } from '../credentials/verification-error.ts'
import { UnreachableError } from '../net/unreachable-error.ts'
import type { Environment } from '../wallet/environment.ts'
import type { ListReader } from './read.ts'

/**
 * How much the status of a credential counts: `required` takes only what is known to stand, `if-available` also what has a list that cannot be had,
 * `off` asks for no list. What is known to be revoked passes with `off` alone.
 */
export const statusPolicies = ['required', 'if-available', 'off'] as const
export type StatusPolicy = (typeof statusPolicies)[number]

/** Lists that one verification reads, each of which may take a host seconds to answer. */
const mostLists = 20

export type StatusChecks = {
  verifyStatus: boolean
  checkStatus: (status: CredentialStatus, credential: Pick<DecodedCredential, 'issuerDid'>) => Promise<void>
}

/**
 * The checks of a credential's status for a policy; for the verification of credentials of every format. They are made for one verification, in which
 * each list is read once.
 */
export function statusChecks(env: Environment, policy: StatusPolicy = 'required'): StatusChecks {
  const lists = new Map<string, Promise<string>>()
  const read: ListReader = (url, type) => {
    if (lists.size >= mostLists && !lists.has(`${type} ${url}`)) {
      throw new VerificationError('status', `more than ${mostLists} status lists would have to be read`)
    }
    const list = lists.get(`${type} ${url}`) ?? env.getStatusList(url, type)
    lists.set(`${type} ${url}`, list)
    return list
  }
  return {
    verifyStatus: policy !== 'off',
    async checkStatus(status, credential) {
      try {
        await checkNow(env, read, status, credential)
      } catch (error) {
        if (policy === 'if-available' && (isTemporary(error) || error instanceof UnreachableError)) return
        throw error
      }
    },
  }
}

async function checkNow(
  env: Environment,
  read: ListReader,
  status: CredentialStatus,
  credential: Pick<DecodedCredential, 'issuerDid'>,
): Promise<void> {
  const entry = readStatusEntry(status)
  const list = await read(entry.statusListCredential, entry.type)
  await checkStatusList(list, entry, credential, {
    resolve: env.resolver.document,
    now: Math.floor(Date.now() / 1_000),
    leewaySeconds: env.config.CREDENTIAL_LEEWAY,
  })
}
