/** Offers that the wallet's owner has accepted beforehand, for the connection over which they come (ours). */
import { isTemporary, Problem } from '../../base/problem.ts'
import { canonicalDid } from '../../did/document.ts'
import type { Db } from '../../storage/database.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type { Task } from '../../wallet/task.ts'
import type { AutomaticAcceptance } from '../connection/acceptance.ts'
import { connection } from '../connection/model.ts'
import { findRecord, getRecord } from '../engine/find.ts'
import { advance, announce } from '../engine/record.ts'
import type { Choice } from './format.ts'
import { formatOf } from './formats/index.ts'
import { writeRequest } from './messages.ts'
import { issueCredential, type CredentialData, type CredentialRecord } from './model.ts'

/** Whether an offer that comes in now is accepted without a person. */
export async function isAccepted(db: Db, offer: CredentialData): Promise<boolean> {
  return (await findAcceptance(db, offer)) !== undefined
}

/**
 * Accepts an offer as its connection's owner has said, if nobody has answered it or said otherwise meanwhile. What stands in the way for good
 * is left to a person: the record says why, and an event tells of it.
 */
export const makeAcceptance: Task = async (wallet, recordId) => {
  const record = await getRecord(wallet.db, issueCredential, recordId)
  const acceptance = isOpen(record) ? await findAcceptance(wallet.db, record) : undefined
  if (!acceptance) return () => Promise.resolve()
  const { subjectId, keyId, trustedIssuers } = acceptance
  const outcome = await attempt(wallet, record, formatOf(record).choose({ subjectId, keyId, trustedIssuers }))
  const kept = { trustedIssuers: trustedIssuers?.map(canonicalDid) }
  return async (tx) => {
    const current = await getRecord(tx, issueCredential, recordId)
    if (!isOpen(current)) return
    if (outcome instanceof Problem)
      await announce(tx, issueCredential, current, { metaLastFailure: toFailure(outcome) })
    else await advance(tx, issueCredential, current, 'made', { ...outcome.change, ...kept }, outcome.message)
  }
}

function isOpen({ state }: CredentialRecord): boolean {
  return state === 'OfferReceived'
}

async function findAcceptance(
  db: Db,
  { connectionId, credentialFormat, schemaIds }: CredentialData,
): Promise<AutomaticAcceptance | undefined> {
  const record = connectionId === undefined ? undefined : await findRecord(db, connection, connectionId)
  const acceptance = record?.automaticAcceptance
  if (!acceptance) return undefined
  const { credentialFormats: formats = [credentialFormat], schemaIds: schemas } = acceptance
  const isOfSchemas =
    schemas === undefined || (schemaIds.length > 0 && schemaIds.every((id) => schemas.includes(id)))
  return formats.includes(credentialFormat) && isOfSchemas ? acceptance : undefined
}

/** The request, or why there can be none. @throws when another attempt may go better. */
async function attempt(wallet: Wallet, record: CredentialRecord, choice: Choice) {
  try {
    return await writeRequest(wallet, record, choice)
  } catch (error) {
    if (error instanceof Problem && !isTemporary(error)) return error
    throw error
  }
}

function toFailure({ status, type, title, message: detail }: Problem) {
  return { status, type, title, detail: `The offer could not be accepted automatically: ${detail}` }
}
