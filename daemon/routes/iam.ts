/** `/iam`: entities (tenants) and their API keys. */
import {
  ApiKey,
  CreateApiKey,
  NewApiKey,
  ApiKeyAuthentication,
  ApiKeyRemoval,
  CreateEntity,
  Entity,
  RebindEntity,
  RenameEntity,
  Uuid,
} from '../../src/wallet/model.ts'
import { Page, Paging, toPage } from '../http/paging.ts'
import { route } from '../http/route.ts'

const path = { id: Uuid }

export default [
  route(
    'GET /iam/entities',
    {
      summary: 'List entities',
      operationId: 'getAllEntities',
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
      operationId: 'createEntity',
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
      operationId: 'getEntityById',
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
      operationId: 'updateEntityName',
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
      operationId: 'updateEntityWalletId',
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
      operationId: 'deleteEntityById',
      access: 'admin',
      path,
      reply: [200, null],
    },
    ({ tenants }, { path: { id } }) => tenants.delete(id),
  ),

  route(
    'GET /iam/entities/{id}/api-keys',
    {
      summary: 'List the API keys of an entity, without their values',
      operationId: 'listEntityApiKeys',
      extension: true,
      access: 'admin',
      path,
      query: Paging,
      reply: [200, Page('ApiKeyPage', ApiKey, 'ApiKeyPage')],
    },
    async ({ tenants }, { path: { id }, query, target }) => {
      const { keys, total } = await tenants.keys.list(id, query)
      return toPage('ApiKeyPage', { target, total, ...query }, keys)
    },
  ),

  route(
    'POST /iam/entities/{id}/api-keys',
    {
      summary: 'Create an API key for an entity, or replace one',
      operationId: 'createEntityApiKey',
      extension: true,
      access: 'admin',
      path,
      body: CreateApiKey,
      reply: [201, NewApiKey],
    },
    ({ tenants }, { path: { id }, body }) => tenants.keys.create(id, body),
  ),

  route(
    'DELETE /iam/entities/{id}/api-keys/{keyId}',
    {
      summary: 'Revoke an API key of an entity',
      operationId: 'revokeEntityApiKey',
      extension: true,
      access: 'admin',
      path: { ...path, keyId: Uuid },
      reply: [200, ApiKey],
    },
    ({ tenants }, { path: { id, keyId } }) => tenants.keys.revoke(id, keyId),
  ),

  route(
    'POST /iam/apikey-authentication',
    {
      summary: 'Register an API key for an entity',
      operationId: 'addEntityApiKeyAuthentication',
      access: 'admin',
      body: ApiKeyAuthentication,
      reply: [201, null],
    },
    ({ tenants }, { body }) => tenants.keys.register(body),
  ),

  route(
    'DELETE /iam/apikey-authentication',
    {
      summary: 'Remove an API key from an entity',
      operationId: 'deleteEntityApiKeyAuthentication',
      access: 'admin',
      body: ApiKeyRemoval,
      reply: [200, null],
    },
    ({ tenants }, { body }) => tenants.keys.remove(body),
  ),
] as const
