/** The status of held credentials: read from the issuer's list, and remembered in the record, so that lists show it. */
import { findRevocationStatus, type RevocationStatus } from '../credential-status/check.ts'
import { createChainVerifier } from '../trust-anchors/verify-chain.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { findRecord } from './engine/find.ts'
import { updateData, updateWithEvent } from './engine/record.ts'
import { type DecodedCredential, issuanceFormats } from './issue-credential/format.ts'
import { issueCredential, type Standing } from './issue-credential/model.ts'
import type { ListedCredential } from './listed-credentials.ts'

/** A status that was read this long ago is not written again. */
const freshMs = 60_000

/** Reads the status of a credential. That of a held one is remembered in its record, if it could be read. */
export async function readStanding(
  wallet: Wallet,
  recordId: string,
  {
    statuses,
    issuerDid,
    header,
  }: {
    statuses: DecodedCredential['statuses']
    issuerDid: string
    header: DecodedCredential['header'] | undefined
  },
): Promise<RevocationStatus> {
  const verifyChain = createChainVerifier(wallet, { own: true })
  const standing = await findRevocationStatus(
    wallet.env,
    { statuses, issuerDid, x5c: header?.x5c },
    verifyChain,
  )
  const { status } = standing
  if (statuses.length > 0 && status !== 'unknown')
    await remember(wallet, recordId, { status, checkedAt: new Date().toISOString() })
  return standing
}

/** A changed status is an event. */
function remember(wallet: Wallet, recordId: string, standing: Standing): Promise<void> {
  return wallet.transaction(async (tx) => {
    const record = await findRecord(tx, issueCredential, recordId)
    if (record?.role !== 'Holder') return
    const { status = 'not-revoked', checkedAt } = record.standing ?? {}
    if (status !== standing.status) return updateWithEvent(tx, issueCredential, record, { standing })
    if (checkedAt === undefined || Date.parse(standing.checkedAt) - Date.parse(checkedAt) > freshMs)
      await updateData(tx, record, { standing })
  })
}

/** Status lists are read for so many credentials at a time. */
const concurrency = 8

/** Why credentials of the wallet must not be presented without being asked for: the reasons of the revoked and suspended ones, by record id. */
export async function findInvalid(
  wallet: Wallet,
  held: readonly ListedCredential[],
): Promise<Map<string, string>> {
  const reasons = new Map<string, string>()
  for (let first = 0; first < held.length; first += concurrency) {
    await Promise.all(
      held.slice(first, first + concurrency).map(async ({ id, format, credential, issuer: issuerDid }) => {
        const { statuses, header } = issuanceFormats[format].read(credential)
        const { status } = await readStanding(wallet, id, { statuses, issuerDid, header })
        if (status === 'revoked') reasons.set(id, 'The issuer has revoked it')
        if (status === 'suspended') reasons.set(id, 'The issuer has suspended it')
      }),
    )
  }
  return reasons
}
