/** The did:toy DIDs of a wallet, which publishes and changes them. */
import { randomId } from '../../../src/foundation/id.ts'
import { contentOf, deactivateContent, updateContent } from '../../../src/wallet/did-registrar/content.ts'
import {
  getDidRow,
  newRow,
  readContent,
  updateDidRow,
  versionOf,
  writeState,
} from '../../../src/wallet/did-registrar/dids.ts'
import { insertDid } from '../../../src/wallet/did-registrar/insert.ts'
import { createKeys, toKeyRow } from '../../../src/wallet/did-registrar/keys.ts'
import type { ManagedMethod } from '../../../src/wallet/did-registrar/methods.ts'
import { keysOfTemplate } from '../../../src/wallet/did-registrar/template.ts'
import type { ManagedName } from '../../../src/definitions/did-names.ts'
import { toDocument } from '../../../src/did/prism/document.ts'
import type { Wallet } from '../../../src/wallet/wallet.ts'
import { publishToy } from './method.ts'

const method = 'toy' as ManagedName

export const toy: ManagedMethod = {
  async create(wallet, { documentTemplate }) {
    const did = `did:toy:${randomId()}`
    await insertDid(wallet, async (didIndex) => {
      const keys = await createKeys(wallet, didIndex, keysOfTemplate(documentTemplate, method), new Map())
      const state = writeState(contentOf(documentTemplate, keys))
      return {
        row: newRow({ did, method, long_form: null, did_index: didIndex, status: 'CREATED', state }),
        keys: keys.map((key) => toKeyRow(wallet, did, versionOf(state), key)),
      }
    })
    return did
  },
  async publish(wallet, { did, state }) {
    await publish(wallet, did)
    await wallet.transaction((tx) => updateDidRow(tx, did, { status: 'PUBLISHED' }))
    return { scheduledOperation: { id: versionOf(state), didRef: did } }
  },
  async update(wallet, row, actions) {
    const done = await updateContent(wallet, row, actions)
    await publish(wallet, row.did)
    return done
  },
  async deactivate(wallet, row) {
    const done = await deactivateContent(wallet, row)
    publishToy(row.did)
    return done
  },
}

async function publish({ db }: Wallet, did: string): Promise<void> {
  const { state } = await getDidRow(db, did)
  publishToy(did, toDocument(readContent(state), did))
}
