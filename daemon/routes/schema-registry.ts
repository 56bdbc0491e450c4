/** `/schema-registry`: credential schemas. */
import * as z from 'zod'
import type { Agent } from '../../src/agent/agent.ts'
import { Problem } from '../../src/foundation/problem.ts'
import { getManagedDid, isManagedDid } from '../../src/wallet/did-registrar/dids.ts'
import { getSigningKey } from '../../src/wallet/did-registrar/keys.ts'
import { canonicalDid, Did } from '../../src/did/document.ts'
import { PrismEnvelope, toEnvelope } from '../../src/credentials/schemas/did-url.ts'
import { signSchema } from '../../src/credentials/schemas/proof.ts'
import {
  getSchema,
  listSchemas,
  publishSchema,
  updateSchema,
  type Authors,
} from '../../src/credentials/schemas/registry.ts'
import { CredentialSchema, CredentialSchemaInput, schemasPath } from '../../src/credentials/schemas/schema.ts'
import { Uuid } from '../../src/wallet/model.ts'
import type { Wallet } from '../../src/wallet/wallet.ts'
import { FilterText, Page, PagingWithAnyOrder, toPage, withoutQuery } from '../http/paging.ts'
import { route } from '../http/route.ts'

const SchemaPage = Page('CredentialSchemaPage', CredentialSchema, 'CredentialSchemaResponsePage')
const EnvelopePage = Page('CredentialSchemaDidUrlPage', PrismEnvelope, 'CredentialSchemaDidUrlResponsePage')

const SchemaFilter = PagingWithAnyOrder.extend({
  author: FilterText,
  name: FilterText,
  version: FilterText,
  tags: z.string().optional().describe('One tag that the schema must have.'),
})
const Signing = z.object({
  sign: z
    .enum(['true', 'false'])
    .optional()
    .describe('Whether the author’s first assertion key signs the schema. False when absent.'),
})
const RawSchema = z.record(z.string(), z.unknown())
const guidPath = { guid: Uuid }
/**
 * The id that all versions share. Its parameter is called `guid` as in the neighbouring paths, which OpenAPI
 * requires.
 */
const idPath = { guid: Uuid.describe('The `id` of the schema, which all its versions share.') }
const publishing = {
  access: 'tenant',
  scopes: ['issuer'],
  query: Signing,
  body: CredentialSchemaInput,
  sharesFile: true,
} as const

export default [
  route(
    'POST /schema-registry/schemas',
    {
      summary: 'Publish a credential schema',
      operationId: 'createSchema',
      ...publishing,
      reply: [201, CredentialSchema],
    },
    ({ wallet, agent }, { body, query }) =>
      publishSchema(agent.db, wallet.id, body, authorsOf(wallet, agent, query)),
  ),

  route(
    'GET /schema-registry/schemas',
    {
      summary: 'List the credential schemas of the wallet',
      operationId: 'lookupSchemasByQuery',
      access: 'tenant',
      query: SchemaFilter,
      reply: [200, SchemaPage],
    },
    async ({ wallet, agent }, { query, target }) => {
      const { schemas, total } = await listSchemas(agent.db, wallet.id, query)
      return withoutQuery(toPage('CredentialSchemaPage', { ...query, target, total }, schemas))
    },
  ),

  route(
    'GET /schema-registry/schemas/{guid}',
    {
      summary: 'Read a credential schema',
      operationId: 'getSchemaById',
      access: 'public',
      path: guidPath,
      reply: [200, CredentialSchema],
    },
    ({ agent }, { path: { guid } }) => getSchema(agent.db, guid),
  ),

  route(
    'GET /schema-registry/schemas/{guid}/schema',
    {
      summary: 'Read only the JSON schema',
      operationId: 'getRawSchemaById',
      access: 'public',
      path: guidPath,
      reply: [200, RawSchema],
    },
    async ({ agent }, { path: { guid } }) => (await getSchema(agent.db, guid)).schema,
  ),

  route(
    'PUT /schema-registry/schemas/{guid}',
    {
      summary: 'Publish a new version of a schema',
      operationId: 'updateSchema',
      ...publishing,
      path: idPath,
      reply: [200, CredentialSchema],
    },
    ({ wallet, agent }, { path: { guid: id }, body, query }) =>
      updateSchema(agent.db, wallet.id, id, body, authorsOf(wallet, agent, query)),
  ),

  route(
    'PUT /schema-registry/{author}/{id}',
    {
      summary: 'Publish a new version of a schema, at its older path',
      operationId: 'updateSchemaOfAuthor',
      ...publishing,
      path: { author: Did, id: Uuid },
      reply: [200, CredentialSchema],
    },
    async ({ wallet, agent }, { path: { author, id }, body, query }) => {
      if (canonicalDid(author) !== canonicalDid(body.author))
        throw new Problem('BadRequest', 'author: must be the DID in the path.')
      return updateSchema(agent.db, wallet.id, id, body, authorsOf(wallet, agent, query))
    },
  ),

  route(
    'POST /schema-registry/schemas/did-url',
    {
      summary: 'Publish a credential schema with a DID URL',
      operationId: 'createSchemaDidUrl',
      ...publishing,
      reply: [201, PrismEnvelope],
    },
    async ({ wallet, agent }, { body, query }) =>
      wrap(await publishSchema(agent.db, wallet.id, body, authorsOf(wallet, agent, query), 'did')),
  ),

  route(
    'GET /schema-registry/schemas/did-url',
    {
      summary: 'List the credential schemas with DID URLs',
      operationId: 'lookupSchemasByQueryDidUrl',
      access: 'tenant',
      query: SchemaFilter,
      reply: [200, EnvelopePage],
    },
    async ({ wallet, agent }, { query, target }) => {
      const { schemas, total } = await listSchemas(agent.db, wallet.id, { ...query, resolutionMethod: 'did' })
      return withoutQuery(
        toPage('CredentialSchemaDidUrlPage', { ...query, target, total }, schemas.map(wrap)),
      )
    },
  ),

  route(
    'GET /schema-registry/schemas/did-url/{guid}',
    {
      summary: 'Read a credential schema with a DID URL',
      operationId: 'getSchemaByIdDidUrl',
      access: 'public',
      path: guidPath,
      reply: [200, PrismEnvelope],
    },
    async ({ agent }, { path: { guid } }) => wrap(await getSchema(agent.db, guid, 'did')),
  ),

  route(
    'GET /schema-registry/schemas/did-url/{guid}/schema',
    {
      summary: 'Read only the JSON schema with a DID URL',
      operationId: 'getRawSchemaByIdDidUrl',
      access: 'public',
      path: guidPath,
      reply: [200, PrismEnvelope],
    },
    async ({ agent }, { path: { guid } }) => {
      const { author, schema } = await getSchema(agent.db, guid, 'did')
      return toEnvelope(author, `${schemasPath}/did-url/${guid.toLowerCase()}/schema`, schema)
    },
  ),

  route(
    'PUT /schema-registry/schemas/did-url/{guid}',
    {
      summary: 'Publish a new version with a DID URL',
      operationId: 'updateSchemaDidUrl',
      ...publishing,
      path: idPath,
      reply: [200, PrismEnvelope],
    },
    async ({ wallet, agent }, { path: { guid: id }, body, query }) =>
      wrap(await updateSchema(agent.db, wallet.id, id, body, authorsOf(wallet, agent, query), 'did')),
  ),
] as const

function wrap(schema: CredentialSchema): PrismEnvelope {
  return toEnvelope(schema.author, `${schemasPath}/did-url/${schema.guid}`, schema)
}

/** The DIDs of the wallet as authors. With `sign`, the first assertion key of the author signs the schema. */
function authorsOf(wallet: Wallet, { env }: Agent, { sign }: z.output<typeof Signing>): Authors {
  return {
    owns: (did) => isManagedDid(wallet.db, did),
    resolve: async (did) => env.resolver.document((await getManagedDid(wallet.db, did)).longForm),
    ...(sign === 'true' && {
      sign: async (authored) => {
        const { keyId, privateJwk } = await getSigningKey(wallet, authored.author, 'assertionMethod')
        const verificationMethod = `${canonicalDid(authored.author)}#${keyId}`
        return signSchema(authored, { verificationMethod, privateJwk, domain: new URL(env.urls.rest).host })
      },
    }),
  }
}
