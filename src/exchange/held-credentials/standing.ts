/**
 * The status of held credentials: read from the issuer's list, and remembered in the record, so that lists
 * show it.
 */
import { isTemporary } from '../../foundation/problem.ts'
import { findRevocationStatus, type RevocationStatus } from '../../wallet/credential-status/check.ts'
import { createChainVerifier } from '../../wallet/trust-anchors/verify-chain.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { findRecord } from '../engine/find.ts'
import { updateData, updateWithEvent } from '../engine/record.ts'
import { type DecodedCredential, issuanceFormats } from '../issuance/format.ts'
import { type CredentialRecord, issueCredential, type Standing } from '../issuance/model.ts'
import type { ListedCredential } from './list.ts'

/** An unchanged status is written again after this time. */
const freshMs = 60_000

/** The status entries of a credential, and who has issued it. */
type Asked = {
  statuses: DecodedCredential['statuses']
  issuerDid: string
  x5c?: unknown
  docType?: string
}

/** Reads the status of a credential. That of a held one is remembered in its record, if it could be read. */
export function readStanding(wallet: Wallet, recordId: string, asked: Asked): Promise<RevocationStatus> {
  return createReader(wallet)(recordId, asked)
}

/** A reader for several credentials, which reads the trust anchors once. */
function createReader(wallet: Wallet) {
  const verifyChain = createChainVerifier(wallet, { own: true })
  return async (recordId: string, asked: Asked): Promise<RevocationStatus> => {
    const { statuses, issuerDid, x5c, docType } = asked
    const credential = { statuses, issuerDid, x5c, ...(docType !== undefined && { docType }) }
    const standing = await findRevocationStatus(wallet.env, credential, verifyChain)
    const { status } = standing
    if (statuses.length > 0 && status !== 'unknown')
      await remember(wallet, recordId, { status, checkedAt: new Date().toISOString() })
    return standing
  }
}

/** A changed status is an event. A full wallet or disk does not keep the status from being shown. */
async function remember(wallet: Wallet, recordId: string, standing: Standing): Promise<void> {
  if (!isNew(await findRecord(wallet.db, issueCredential, recordId), standing)) return
  await wallet
    .transaction(
      async (tx) => {
        const record = await findRecord(tx, issueCredential, recordId)
        if (!isNew(record, standing)) return
        if (statusOf(record) !== standing.status)
          return updateWithEvent(tx, issueCredential, record, { standing })
        await updateData(tx, record, { standing })
      },
      { canWait: true },
    )
    .catch((error: unknown) => {
      if (!isTemporary(error)) throw error
    })
}

/** Whether the record of a held credential has another status, or one that was read long ago. */
function isNew(
  record: CredentialRecord | undefined,
  { status, checkedAt }: Standing,
): record is CredentialRecord {
  if (record?.role !== 'Holder') return false
  const last = record.standing?.checkedAt
  return (
    statusOf(record) !== status || last === undefined || Date.parse(checkedAt) - Date.parse(last) > freshMs
  )
}

const statusOf = ({ standing }: CredentialRecord) => standing?.status ?? 'not-revoked'

/** Status lists are read for so many credentials at a time. */
const concurrency = 8

/**
 * Why credentials of the wallet must not be presented without being asked for: the reasons of the revoked and
 * suspended ones, by record id.
 */
export async function findInvalid(
  wallet: Wallet,
  held: readonly ListedCredential[],
): Promise<Map<string, string>> {
  const reasons = new Map<string, string>()
  const read = createReader(wallet)
  for (let first = 0; first < held.length; first += concurrency) {
    await Promise.all(
      held.slice(first, first + concurrency).map(async ({ id, format, credential, issuer: issuerDid }) => {
        const decoded = issuanceFormats[format].read(credential)
        const { status } = await read(id, { ...decoded, issuerDid })
        if (status === 'revoked') reasons.set(id, 'The issuer has revoked it')
        if (status === 'suspended') reasons.set(id, 'The issuer has suspended it')
      }),
    )
  }
  return reasons
}
