/**
 * The wallet's did:web DIDs (W3C CCG, "did:web Method Specification"). This agent serves their documents
 * below its base URL, so creation, updates and deactivation take effect at once. No ledger is involved.
 */
import { randomId } from '../../foundation/id.ts'
import { Problem } from '../../foundation/problem.ts'
import type { DidDocument } from '../../did/document.ts'
import { toDocument } from '../../did/prism/document.ts'
import type { AgentDb, Db } from '../../foundation/storage/database.ts'
import type { Wallet } from '../wallet.ts'
import type { Wallets } from '../wallets.ts'
import { contentOf, deactivateContent, updateContent } from './content.ts'
import { isManagedDid, newRow, readContent, versionOf, writeState } from './dids.ts'
import { insertDid } from './insert.ts'
import { createKeys, toKeyRow } from './keys.ts'
import type { ManagedMethod } from './methods.ts'
import type { CreateManagedDid } from './model.ts'
import { keysOfTemplate } from './template.ts'

export const web = {
  create: createWebDid,
  update: updateContent,
  deactivate: deactivateContent,
} satisfies ManagedMethod

/**
 * Creates a did:web of this agent and returns it.
 *
 * @throws {Problem} 409 when the name is in use, 422 when the agent's base URL cannot be expressed in a
 * did:web. @throws {InvalidOperation} for a template that breaks a rule.
 */
export async function createWebDid(
  wallet: Wallet,
  { name, label, documentTemplate }: CreateManagedDid,
  db: AgentDb,
): Promise<string> {
  const did = toWebDid(wallet.env.urls.rest, name ?? randomId())
  const specs = keysOfTemplate(documentTemplate, 'web')
  // Check the template before taking the name. Any keys will do.
  const trial = await createKeys(wallet, 0, specs, new Map())
  contentOf(documentTemplate, trial)
  await takeName(db, wallet, did)
  const create = async (didIndex: number) => {
    const keys = await createKeys(wallet, didIndex, specs, new Map())
    const state = writeState(contentOf(documentTemplate, keys))
    const row = newRow({
      did,
      method: 'web',
      long_form: null,
      did_index: didIndex,
      status: 'PUBLISHED',
      state,
    })
    return { row, keys: keys.map((key) => toKeyRow(wallet, did, versionOf(state), key)) }
  }
  await insertDid(wallet, create, label)
  return did
}

/** The document of a did:web of this agent. @throws {Problem} `error:DIDResolution:deactivated` */
export async function findWebDocument(
  db: AgentDb,
  wallets: Wallets,
  did: string,
): Promise<DidDocument | undefined> {
  const known = await db.selectFrom('web_did').select('wallet_id').where('did', '=', did).executeTakeFirst()
  return known && wallets.use(known.wallet_id, ({ db: own }) => readDocument(own, did))
}

async function readDocument(db: Db, did: string): Promise<DidDocument | undefined> {
  const row = await db.selectFrom('did').select('state').where('did', '=', did).executeTakeFirst()
  if (!row) return undefined
  const content = readContent(row.state)
  if (content.deactivated) throw new Problem('error:DIDResolution:deactivated', `${did} is deactivated`)
  return toDocument(content, did)
}

/**
 * The did:web whose document is at `<base>/web/<name>/did.json`. `base` is http or https, without trailing
 * slash.
 *
 * @throws {Problem} 422 for an http base, except on localhost: did:web is resolved by https.
 */
export function toWebDid(base: string, name: string): string {
  const { protocol, hostname, host, pathname } = new URL(base)
  if (protocol !== 'https:' && !/^(localhost|127\.\d+\.\d+\.\d+)$/.test(hostname)) {
    throw new Problem(
      'UnprocessableEntity',
      `method: a did:web is resolved by https, and this agent's address is ${base}. Set REST_SERVICE_URL to its public https URL.`,
    )
  }
  const path = pathname.split('/').filter((segment) => segment !== '')
  return ['did', 'web', host.replace(':', '%3A'), ...path, 'web', name].join(':')
}

/** Reserves a name. If the agent stopped before it inserted the DID, the same wallet can reserve it again. */
async function takeName(db: AgentDb, wallet: Wallet, did: string): Promise<void> {
  const row = { did, wallet_id: wallet.id, created_at: new Date().toISOString() }
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('web_did')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  if (numInsertedOrUpdatedRows) return
  const known = await db.selectFrom('web_did').select('wallet_id').where('did', '=', did).executeTakeFirst()
  const isTaken = known?.wallet_id !== wallet.id || (await isManagedDid(wallet.db, did))
  if (isTaken)
    throw new Problem(
      'Conflict',
      `name: this agent has a DID ${did} already. Choose another name, or leave it out.`,
    )
}
