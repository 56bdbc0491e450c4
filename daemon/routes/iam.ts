/** `/iam`: the tenants' entities, and the keys that let them in (service §4.1, api.md 4.3). */
import { ApiKeyAuthentication, CreateEntity, Entity, RebindEntity, RenameEntity, Uuid } from '../../src/wallet/model.ts'
import { Page, Paging, toPage } from '../page.ts'
import { route } from '../route.ts'

const path = { id: Uuid }

export default [
  route(
    'GET /iam/entities',
    {
      summary: 'List entities',
      access: 'admin',
      query: Paging,
      reply: [200, Page('EntityResponsePage', Entity, 'EntityResponsePage')],
    },
    async ({ tenants }, { query, target }) => {
      const { entities, total } = await tenants.list(query)
      return toPage('EntityResponsePage', { target, total, ...query }, entities)
    },
  ),

  route(
    'POST /iam/entities',
    {
      summary: 'Create an entity',
      access: 'admin',
      body: CreateEntity,
      reply: [201, Entity],
    },
    ({ tenants }, { body }) => tenants.create(body),
  ),

  route(
    'GET /iam/entities/{id}',
    {
      summary: 'Read an entity',
      access: 'admin',
      path,
      reply: [200, Entity],
    },
    ({ tenants }, { path: { id } }) => tenants.get(id),
  ),

  route(
    'PUT /iam/entities/{id}/name',
    {
      summary: 'Rename an entity',
      access: 'admin',
      path,
      body: RenameEntity,
      reply: [200, Entity],
    },
    ({ tenants }, { path: { id }, body }) => tenants.update(id, body),
  ),

  route(
    'PUT /iam/entities/{id}/walletId',
    {
      summary: 'Bind an entity to another wallet',
      access: 'admin',
      path,
      body: RebindEntity,
      reply: [200, Entity],
    },
    ({ tenants }, { path: { id }, body }) => tenants.update(id, body),
  ),

  route(
    'DELETE /iam/entities/{id}',
    {
      summary: 'Delete an entity and its keys',
      access: 'admin',
      path,
      reply: [200, null],
    },
    ({ tenants }, { path: { id } }) => tenants.delete(id),
  ),

  route(
    'POST /iam/apikey-authentication',
    {
      summary: 'Register an API key for an entity',
      access: 'admin',
      body: ApiKeyAuthentication,
      reply: [201, null],
    },
    ({ tenants }, { body }) => tenants.addApiKey(body),
  ),

  route(
    'DELETE /iam/apikey-authentication',
    {
      summary: 'Remove an API key from an entity',
      access: 'admin',
      body: ApiKeyAuthentication,
      reply: [200, null],
    },
    ({ tenants }, { body }) => tenants.removeApiKey(body),
  ),
] as const
