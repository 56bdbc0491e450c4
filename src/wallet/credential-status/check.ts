/** Checks the status of credentials: as part of a verification, or for display. */
import * as z from 'zod'
import { isTemporary, Problem } from '../../foundation/problem.ts'
import { reasonOf } from '../../foundation/reason.ts'
import type { VerifyChain } from '../../credentials/codecs/issuer-signature.ts'
import type { CredentialStatus, DecodedCredential } from '../../credentials/codecs/jwt-vc.ts'
import {
  checkStatusList,
  type CredentialIssuer,
  readStatusEntry,
  RevokedError,
} from '../../credentials/codecs/status-list.ts'
import { checkIdentifierListCwt, checkStatusListCwt } from '../../credentials/codecs/status-list-cwt.ts'
import {
  checkTokenStatus,
  cwtStatusEntry,
  identifierEntry,
  readIdentifier,
  readTokenStatus,
  tokenStatusEntry,
  type TokenStatusReference,
  unknownStatusEntry,
} from '../../credentials/codecs/token-status-list.ts'
import { VerificationError } from '../../credentials/codecs/verification-error.ts'
import type { CheckStatus } from '../../credentials/codecs/verify.ts'
import { UnreachableError } from '../../foundation/net/unreachable-error.ts'
import type { Environment } from '../environment.ts'
import type { ListReader } from './read.ts'

/**
 * `required`: the status must be known. `if-available`: an unreachable list is accepted. `off`: no list is
 * read. Only `off` accepts revoked credentials.
 */
export const statusPolicies = ['required', 'if-available', 'off'] as const
export type StatusPolicy = (typeof statusPolicies)[number]

/** The limit of lists in one verification. Each may take seconds to fetch. */
const maxLists = 20

export type StatusChecks = {
  verifyStatus: boolean
  checkStatus: CheckStatus
}

/** Creates the status check of one verification, which reads each list once. */
export function statusChecks(
  env: Environment,
  policy: StatusPolicy = 'required',
  verifyChain?: VerifyChain,
): StatusChecks {
  const lists = new Map<string, Promise<string>>()
  const read: ListReader = (url, type) => {
    if (lists.size >= maxLists && !lists.has(`${type} ${url}`)) {
      throw new VerificationError('status', `the credentials have more than ${maxLists} status lists`)
    }
    const list = lists.get(`${type} ${url}`) ?? env.getStatusList(url, type)
    lists.set(`${type} ${url}`, list)
    return list
  }
  return {
    verifyStatus: policy !== 'off',
    async checkStatus(status, credential) {
      try {
        await checkEntry({ env, read, verifyChain }, status, credential)
      } catch (error) {
        if (policy === 'if-available' && (isTemporary(error) || error instanceof UnreachableError)) return
        throw error
      }
    },
  }
}

async function checkEntry(
  { env, read, verifyChain }: { env: Environment; read: ListReader; verifyChain?: VerifyChain | undefined },
  status: CredentialStatus,
  credential: CredentialIssuer,
): Promise<void> {
  const checks = {
    resolve: env.resolver.document,
    verifyChain,
    now: Math.floor(Date.now() / 1_000),
    leewaySeconds: env.config.CREDENTIAL_LEEWAY,
    maxBytes: env.config.STATUS_LIST_MAX_BYTES,
  }
  if (status.type === tokenStatusEntry || status.type === unknownStatusEntry) {
    const reference = readTokenStatus(status)
    return checkTokenStatus(await read(reference.uri, tokenStatusEntry), reference, credential, checks)
  }
  if (status.type === cwtStatusEntry) {
    const reference = readTokenStatus(status)
    return checkCwt(await read(reference.uri, cwtStatusEntry), reference, credential, checks)
  }
  if (status.type === identifierEntry) {
    const reference = readIdentifier(status)
    const list = Buffer.from(await read(reference.uri, identifierEntry), 'base64')
    return checkIdentifierListCwt(list, reference, credential, checks)
  }
  const entry = readStatusEntry(status)
  await checkStatusList(await read(entry.statusListCredential, entry.type), entry, credential, checks)
}

/** A host that has a list only as JWT serves that. `list` is in base64. */
function checkCwt(
  list: string,
  reference: TokenStatusReference,
  credential: CredentialIssuer,
  checks: Parameters<typeof checkTokenStatus>[3],
): Promise<void> {
  const bytes = Buffer.from(list, 'base64')
  return bytes.subarray(0, 2).toString() === 'ey'
    ? checkTokenStatus(bytes.toString(), reference, credential, checks)
    : checkStatusListCwt(bytes, reference, credential, checks)
}

export const RevocationStatus = z
  .object({
    status: z
      .enum(['not-revoked', 'revoked', 'suspended', 'unknown'])
      .describe(
        'The current status. `unknown` if the list is unreachable, invalid, or of an unsupported type.',
      ),
    detail: z
      .string()
      .optional()
      .describe('The reason for `unknown`, or why the credential cannot be revoked.'),
  })
  .meta({ id: 'CredentialStanding' })
export type RevocationStatus = z.infer<typeof RevocationStatus>

/** Reads the status of a credential for display. A revocation takes precedence, then an unknown status. */
export async function findRevocationStatus(
  env: Environment,
  { statuses, ...issuer }: CredentialIssuer & Pick<DecodedCredential, 'statuses'>,
  verifyChain?: VerifyChain,
): Promise<RevocationStatus> {
  if (statuses.length === 0)
    return { status: 'not-revoked', detail: 'the credential has no status list, so it cannot be revoked' }
  const { checkStatus } = statusChecks(env, 'required', verifyChain)
  let unknown: RevocationStatus | undefined
  for (const status of statuses) {
    try {
      await checkStatus(status, issuer)
    } catch (error) {
      if (error instanceof RevokedError) return { status: error.status }
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
