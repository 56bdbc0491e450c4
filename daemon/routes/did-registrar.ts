/** `/did-registrar/dids` (service §4.1, api.md 4.4). */
import { z } from 'zod'
import { createDid, getDidRow, listDids, toManagedDid } from '../../src/did-registrar/dids.ts'
import { CreateManagedDid, CreateManagedDidResponse, DidOperationResponse, ManagedDid } from '../../src/did-registrar/model.ts'
import { publishDid } from '../../src/did-registrar/publish.ts'
import { Page, Paging, toPage } from '../page.ts'
import { route } from '../route.ts'

const ManagedDidPage = Page('ManagedDIDPage', ManagedDid, 'ManagedDIDPage')
const path = { didRef: z.string().describe('A did:prism of this wallet, short or long form.') }

export default [
  route(
    'GET /did-registrar/dids',
    { summary: 'List the DIDs of the wallet', access: 'tenant', query: Paging, reply: [200, ManagedDidPage] },
    async ({ wallet }, { query, target }) => {
      const { dids, total } = await listDids(wallet.db, query)
      return toPage('ManagedDIDPage', { ...query, target, total }, dids)
    },
  ),

  route(
    'POST /did-registrar/dids',
    { summary: 'Create a DID', access: 'tenant', body: CreateManagedDid, reply: [201, CreateManagedDidResponse] },
    async ({ wallet }, { body }) => ({ longFormDid: await createDid(wallet, body) }),
  ),

  route(
    'GET /did-registrar/dids/{didRef}',
    { summary: 'Read a DID of the wallet', access: 'tenant', path, reply: [200, ManagedDid] },
    async ({ wallet }, { path: { didRef } }) => toManagedDid(await getDidRow(wallet.db, didRef)),
  ),

  route(
    'POST /did-registrar/dids/{didRef}/publications',
    { summary: 'Publish a DID on the ledger', access: 'tenant', path, reply: [202, DidOperationResponse] },
    ({ wallet }, { path: { didRef } }) => publishDid(wallet, didRef),
  ),
] as const
