/**
 * The driver of entries on the DID ledger: storage operations of did:prism, signed with a VDR key. The id of
 * an entry is the hash of the operation that creates it.
 *
 * In URLs it has the name of the Cloud Agent's driver for NeoPRISM nodes, which serve the same entries, so
 * that Cloud Agents can read them.
 */
import { randomBytes } from 'node:crypto'
import { toShortForm } from '../../did/prism/did.ts'
import type { StorageOperation } from '../../did/prism/model.ts'
import { encodeOperation, operationHash, signOperation } from '../../did/prism/operations.ts'
import { getVdrKey, type VdrKey } from '../did-registrar/vdr-key.ts'
import { isManagedDid } from '../did-registrar/dids.ts'
import type { Ledger, StorageEntry } from '../../did/ledger/ledger.ts'
import type { Wallet } from '../wallet.ts'
import type { Driver } from './driver.ts'

export function createLedgerDriver(ledger: Ledger): Driver {
  const submit = async (operation: StorageOperation, { keyId, privateJwk }: VdrKey) => {
    const encoded = encodeOperation(operation)
    const { operationId } = await ledger.submit(signOperation(encoded, keyId, privateJwk))
    return { operationId, hash: operationHash(encoded) }
  }

  /** Signs the next operation on the wallet's own entry. */
  const change = async (
    wallet: Wallet,
    entryId: string,
    keyRef: string | undefined,
    next: (entry: StorageEntry) => StorageOperation,
  ) => {
    const entry = await ledger.getEntry(entryId)
    if (!entry) return undefined
    // A NeoPRISM node does not tell the DID. It ignores an operation that another DID has signed.
    const did = entry.suffix && toShortForm(entry.suffix)
    if (did && !(await isManagedDid(wallet.db, did))) return undefined
    const key = await getVdrKey(wallet, keyRef, did)
    if (entry.suffix !== undefined && key.suffix !== entry.suffix) return undefined
    const { operationId } = await submit(next(entry), key)
    return { operationId }
  }

  return {
    name: { family: 'prism', id: 'neoprism', version: '1.0.0' },
    aliases: ['ledger', 'prism-node'],

    async create(wallet, content, keyRef) {
      const key = await getVdrKey(wallet, keyRef)
      const operation = { suffix: key.suffix, nonce: randomBytes(16), content }
      const { operationId, hash } = await submit({ operation: 'createEntry', ...operation }, key)
      return { entryId: hash, operationId }
    },

    find: async (entryId) => (await ledger.getEntry(entryId))?.content,

    update: (wallet, entryId, content, keyRef) =>
      change(wallet, entryId, keyRef, ({ lastHash: previousHash }) => ({
        operation: 'updateEntry',
        previousHash,
        content,
      })),

    remove: (wallet, entryId, keyRef) =>
      change(wallet, entryId, keyRef, ({ lastHash: previousHash }) => ({
        operation: 'deactivateEntry',
        previousHash,
      })),
  }
}
