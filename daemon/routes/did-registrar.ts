/** `/did-registrar`: the DIDs that the wallet creates and publishes. */
import * as z from 'zod'
import { getDidRow, listDids, toDetail } from '../../src/wallet/did-registrar/dids.ts'
import {
  CreateManagedDid,
  CreateManagedDidResponse,
  DidOperationResponse,
  LabelDid,
  ManagedDidDetail,
  Restoration,
  RestoreDids,
  UpdateManagedDid,
} from '../../src/wallet/did-registrar/model.ts'
import {
  createDid,
  deactivateDid,
  labelDid,
  publishDid,
  restoreDids,
  updateDid,
} from '../../src/wallet/did-registrar/registrar.ts'
import { ownDidText } from '../../src/definitions/did-names.ts'
import { Page, Paging, toPage } from '../http/paging.ts'
import { route } from '../http/route.ts'

const ManagedDidPage = Page('ManagedDIDPage', ManagedDidDetail, 'ManagedDIDPage')
const path = {
  didRef: z.string().describe(`A${ownDidText.slice(1)}.`),
}

export default [
  route(
    'GET /did-registrar/dids',
    {
      summary: 'List the DIDs of the wallet',
      operationId: 'getDid-registrarDids',
      access: 'tenant',
      query: Paging,
      reply: [200, ManagedDidPage],
    },
    async ({ wallet }, { query, target }) => {
      const { dids, total } = await listDids(wallet.db, query)
      return toPage('ManagedDIDPage', { ...query, target, total }, dids)
    },
  ),

  route(
    'POST /did-registrar/dids',
    {
      summary: 'Create a DID',
      operationId: 'postDid-registrarDids',
      access: 'tenant',
      scopes: ['issuer', 'holder'],
      body: CreateManagedDid,
      reply: [201, CreateManagedDidResponse],
    },
    async ({ wallet, agent }, { body }) => ({
      longFormDid: await createDid(wallet, body, agent.db),
    }),
  ),

  route(
    'GET /did-registrar/dids/{didRef}',
    {
      summary: 'Read a DID of the wallet',
      operationId: 'getDid-registrarDidsDidref',
      access: 'tenant',
      path,
      reply: [200, ManagedDidDetail],
    },
    async ({ wallet }, { path: { didRef } }) => toDetail(await getDidRow(wallet.db, didRef)),
  ),

  route(
    'PATCH /did-registrar/dids/{didRef}',
    {
      summary: 'Name a DID of the wallet',
      operationId: 'labelDid',
      extension: true,
      access: 'tenant',
      scopes: ['issuer', 'holder'],
      path,
      body: LabelDid,
      reply: [200, ManagedDidDetail],
    },
    async ({ wallet }, { path: { didRef }, body: { label } }) =>
      toDetail(await labelDid(wallet, didRef, label)),
  ),

  route(
    'POST /did-registrar/dids/{didRef}/publications',
    {
      summary: 'Publish a DID on the ledger',
      operationId: 'postDid-registrarDidsDidrefPublications',
      access: 'tenant',
      scopes: ['issuer', 'holder'],
      path,
      reply: [202, DidOperationResponse],
    },
    ({ wallet }, { path: { didRef } }) => publishDid(wallet, didRef),
  ),

  route(
    'POST /did-registrar/dids/{didRef}/updates',
    {
      summary: 'Change a published DID',
      operationId: 'postDid-registrarDidsDidrefUpdates',
      access: 'tenant',
      scopes: ['issuer', 'holder'],
      path,
      body: UpdateManagedDid,
      reply: [202, DidOperationResponse],
    },
    ({ wallet }, { path: { didRef }, body }) => updateDid(wallet, didRef, body),
  ),

  route(
    'POST /did-registrar/dids/{didRef}/deactivations',
    {
      summary: 'Deactivate a published DID, for good',
      operationId: 'postDid-registrarDidsDidrefDeactivations',
      access: 'tenant',
      scopes: ['issuer', 'holder'],
      path,
      reply: [202, DidOperationResponse],
    },
    ({ wallet }, { path: { didRef } }) => deactivateDid(wallet, didRef),
  ),

  route(
    'POST /did-registrar/restorations',
    {
      summary: 'Restore DIDs of the wallet’s seed',
      operationId: 'restoreDids',
      extension: true,
      access: 'tenant',
      scopes: [],
      body: RestoreDids,
      reply: [200, Restoration],
    },
    async ({ wallet }, { body: { dids } }) => ({
      restored: await restoreDids(wallet, dids),
    }),
  ),
] as const
