/** Assigns an index of a status list to each issued credential. */
import { randomInt } from 'node:crypto'
import { steadyNow } from '../../foundation/clock.ts'
import { listLength } from '../../credentials/codecs/bitstring.ts'
import type { CredentialStatus } from '../../credentials/codecs/jwt-vc.ts'
import type { Db, Tx } from '../../foundation/storage/database.ts'
import { prepared } from '../../foundation/storage/prepared.ts'
import { LaterError, type Wallet } from '../wallet.ts'
import { createListEntry } from './ledger-lists.ts'
import { enqueueWrite, isOnLedger, type ListMedia, type StatusList } from './lists.ts'

/**
 * Lists are filled by half. A random index is then likely to be free, and does not reveal the time of
 * issuance.
 */
const maxUsed = listLength / 2

/** An index in a list: the entry for the credential, and the write that reserves it. */
export type StatusAssignment = {
  status: CredentialStatus
  /** The same entry for the `status` of an SD-JWT VC. */
  tokenStatus: { status_list: { idx: number; uri: string } }
  store: (tx: Tx, recordId: string) => Promise<void>
}

/**
 * Chooses a free index in a list of an issuer: a DID (short form), or the id of an issuer certificate. `form`
 * is the one that the credential needs. `store` reserves the index.
 */
export async function assignStatus(wallet: Wallet, did: string, form: ListMedia): Promise<StatusAssignment> {
  const { id, url } = await getOpenList(wallet, did, form)
  const index = await findFreeIndex(wallet.db, id)
  return {
    // Wallets expect a capital letter in the purpose, and a number as index.
    status: {
      id: `${url}#${index}`,
      type: 'StatusList2021Entry',
      statusPurpose: 'Revocation',
      statusListIndex: index,
      statusListCredential: url,
    },
    tokenStatus: { status_list: { idx: index, uri: url } },
    store: (tx, recordId) => insertEntry(tx, id, index, recordId),
  }
}

const openLists = prepared((db: Db, { did, media }: Pick<StatusList, 'did' | 'media'>) =>
  db
    .selectFrom('status_list')
    .selectAll()
    .where('did', '=', did)
    .where('media', '=', media)
    .where('used', '<', maxUsed)
    .orderBy('id'),
)

/**
 * The list of an issuer with free indexes. Creates one if necessary. SD-JWT VCs have a list of their own:
 * what its URL serves to readers without an `Accept` header must be the form that they refer to.
 */
async function getOpenList(wallet: Wallet, did: string, form: ListMedia): Promise<StatusList> {
  // A list for documents is served as CWT and as JWT, and on the ledger it would have one form.
  const isForDocuments = form === 'application/statuslist+cwt'
  const onLedger = wallet.env.config.VDR_STATUS_LISTS && !isForDocuments
  const asToken = isForDocuments ? 'application/statuslist+jwt' : form
  const media = onLedger || asToken === 'application/statuslist+jwt' ? asToken : ''
  const open = async (db: Db) =>
    (await openLists(db, { did, media })).rows.find((list) => isOnLedger(list) === onLedger)
  const existing = await open(wallet.db)
  if (existing) return existing
  if (!onLedger) return insertList(wallet, newHttpList(wallet, did, media), open)
  // An entry costs a transaction of the ledger.
  const key = `${wallet.id} ${did} ${media}`
  const created =
    creating.get(key) ??
    createListEntry(wallet, { id: newListId(wallet), did, media: form })
      .then((list) => insertList(wallet, list, open))
      .finally(() => creating.delete(key))
  creating.set(key, created)
  return created
}

/** Lists whose entry is being created on the ledger. */
const creating = new Map<string, Promise<StatusList>>()

const newListId = ({ env, id }: Wallet) => env.tokens.create('status-list', id)

function newHttpList(wallet: Wallet, did: string, media: ListMedia | ''): StatusList {
  const { config, urls } = wallet.env
  const id = newListId(wallet)
  const url = `${config.POLLUX_STATUS_LIST_REGISTRY_PUBLIC_URL ?? urls.rest}/credential-status/${id}`
  const place = { written_revision: null, operation_id: null, submitted_at: null }
  return { id, did, url, media, used: 0, revision: 0, created_at: new Date().toISOString(), ...place }
}

/** Stores a new list, unless another was stored meanwhile. */
function insertList(
  wallet: Wallet,
  list: StatusList,
  open: (db: Db) => Promise<StatusList | undefined>,
): Promise<StatusList> {
  return wallet.transaction(async (tx) => {
    const concurrent = await open(tx)
    if (concurrent) return concurrent
    await tx.insertInto('status_list').values(list).execute()
    await enqueueWrite(tx, list.id)
    return list
  })
}

const entriesByIndex = prepared((db: Db, { listId, index }: { listId: string; index: number }) =>
  db
    .selectFrom('status_entry')
    .select('list_index')
    .where('list_id', '=', listId)
    .where('list_index', '=', index),
)

async function findFreeIndex(db: Db, listId: string): Promise<number> {
  for (;;) {
    const index = randomInt(listLength)
    const { rows: entries } = await entriesByIndex(db, { listId, index })
    if (entries.length === 0) return index
  }
}

const insertRow = prepared(
  (db: Db, { listId, index, recordId }: { listId: string; index: number; recordId: string }) =>
    db
      .insertInto('status_entry')
      .values({ list_id: listId, list_index: index, record_id: recordId, revoked_at: null, revoke_at: null })
      .onConflict((conflict) => conflict.columns(['list_id', 'list_index']).doNothing()),
)

const countEntry = prepared((db: Db, { listId }: { listId: string }) =>
  db
    .updateTable('status_list')
    .set((eb) => ({ used: eb('used', '+', 1) }))
    .where('id', '=', listId),
)

/** @throws {LaterError} when another credential uses the index meanwhile. */
async function insertEntry(tx: Tx, listId: string, index: number, recordId: string): Promise<void> {
  const { numAffectedRows } = await insertRow(tx, { listId, index, recordId })
  if (!numAffectedRows) throw new LaterError(new Date(steadyNow()))
  await countEntry(tx, { listId })
}
