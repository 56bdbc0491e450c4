/** `/credential-definition-registry`: AnonCreds credential definitions. */
import * as z from 'zod'
import type { Agent } from '../../src/agent/agent.ts'
import {
  CredentialDefinitionInput,
  CredentialDefinitionRecord,
} from '../../src/credentials/anoncreds/definition.ts'
import {
  definitionsPath,
  getDefinition,
  listDefinitions,
  publishDefinition,
  toDefinition,
} from '../../src/credentials/anoncreds/definitions.ts'
import { CredentialDefinition } from '../../src/credentials/anoncreds/model.ts'
import { isManagedDid } from '../../src/wallet/did-registrar/dids.ts'
import { PrismEnvelope, toEnvelope } from '../../src/credentials/schemas/did-url.ts'
import type { ResolutionMethod } from '../../src/credentials/schemas/schema.ts'
import { Uuid } from '../../src/wallet/model.ts'
import type { Wallet } from '../../src/wallet/wallet.ts'
import { FilterText, Page, PagingWithAnyOrder, toPage, withoutQuery } from '../http/paging.ts'
import { readWait } from '../http/decode.ts'
import { route, type Answer } from '../http/route.ts'

const DefinitionPage = Page(
  'CredentialDefinitionPage',
  CredentialDefinitionRecord,
  'CredentialDefinitionResponsePage',
)
const EnvelopePage = Page(
  'CredentialDefinitionDidUrlPage',
  PrismEnvelope,
  'CredentialDefinitionDidUrlResponsePage',
)

const Filter = PagingWithAnyOrder.extend({
  author: FilterText,
  name: FilterText,
  version: FilterText,
  tag: FilterText,
})

/**
 * How long a request waits for the key by default: shorter than common client timeouts, longer than most keys
 * take.
 */
const longestWaitMs = 25_000

const json = 'application/json'
const guidPath = { guid: Uuid }
const publishing = {
  access: 'tenant',
  scopes: ['issuer'],
  headers: z.object({
    prefer: z
      .string()
      .optional()
      .describe(
        '`respond-async`: reply 202 immediately, while the key is generated; with `wait=<seconds>`, after that time (RFC 7240). 25 seconds when absent.',
      ),
  }),
  body: CredentialDefinitionInput,
  sharesFile: true,
  media: [json],
  reply: [201, CredentialDefinitionRecord],
} as const

export default [
  route(
    'POST /credential-definition-registry/definitions',
    {
      summary: 'Publish a credential definition; 201 with its key, 202 while the key is generated',
      operationId: 'createCredentialDefinitionHttpUrl',
      ...publishing,
    },
    ({ wallet, agent }, { body, headers, whenGone }) =>
      publish(agent, wallet, body, 'http', readWait(headers.prefer, longestWaitMs), whenGone),
  ),

  route(
    'GET /credential-definition-registry/definitions',
    {
      summary: 'List the credential definitions of the wallet',
      operationId: 'lookupCredentialDefinitionsByQueryHttpUrl',
      access: 'tenant',
      query: Filter,
      reply: [200, DefinitionPage],
    },
    async ({ wallet, agent }, { query, target }) => {
      const { definitions, total } = await listDefinitions(agent.db, wallet.id, query)
      return withoutQuery(toPage('CredentialDefinitionPage', { ...query, target, total }, definitions))
    },
  ),

  route(
    'GET /credential-definition-registry/definitions/{guid}',
    {
      summary: 'Read a credential definition',
      operationId: 'getCredentialDefinitionByIdHttpUrl',
      access: 'public',
      path: guidPath,
      reply: [200, CredentialDefinitionRecord],
    },
    ({ agent }, { path: { guid } }) => getDefinition(agent.db, guid),
  ),

  route(
    'GET /credential-definition-registry/definitions/{guid}/definition',
    {
      summary: 'Read only the definition',
      operationId: 'getCredentialDefinitionInnerDefinitionByIdHttpUrl',
      access: 'public',
      path: guidPath,
      reply: [200, CredentialDefinition],
    },
    async ({ agent }, { path: { guid } }) => toDefinition(await getDefinition(agent.db, guid)),
  ),

  route(
    'POST /credential-definition-registry/definitions/did-url',
    {
      summary:
        'Publish a credential definition with a DID URL; 201 with its key, 202 while the key is generated',
      operationId: 'createCredentialDefinitionDidUrl',
      ...publishing,
    },
    ({ wallet, agent }, { body, headers, whenGone }) =>
      publish(agent, wallet, body, 'did', readWait(headers.prefer, longestWaitMs), whenGone),
  ),

  route(
    'GET /credential-definition-registry/definitions/did-url',
    {
      summary: 'List the credential definitions with DID URLs',
      operationId: 'lookupCredentialDefinitionsByQueryDidUrl',
      access: 'tenant',
      query: Filter,
      reply: [200, EnvelopePage],
    },
    async ({ wallet, agent }, { query, target }) => {
      const { definitions, total } = await listDefinitions(agent.db, wallet.id, {
        ...query,
        resolutionMethod: 'did',
      })
      return withoutQuery(
        toPage('CredentialDefinitionDidUrlPage', { ...query, target, total }, definitions.map(wrap)),
      )
    },
  ),

  route(
    'GET /credential-definition-registry/definitions/did-url/{guid}',
    {
      summary: 'Read a credential definition with a DID URL',
      operationId: 'getCredentialDefinitionByIdDidUrl',
      access: 'public',
      path: guidPath,
      reply: [200, PrismEnvelope],
    },
    async ({ agent }, { path: { guid } }) => wrap(await getDefinition(agent.db, guid, 'did')),
  ),

  route(
    'GET /credential-definition-registry/definitions/did-url/{guid}/definition',
    {
      summary: 'Read only the definition with a DID URL',
      operationId: 'getCredentialDefinitionInnerDefinitionByIdDidUrl',
      access: 'public',
      path: guidPath,
      reply: [200, PrismEnvelope],
    },
    async ({ agent }, { path: { guid } }) => {
      const record = await getDefinition(agent.db, guid, 'did')
      return toEnvelope(
        record.author,
        `${definitionsPath}/did-url/${record.guid}/definition`,
        toDefinition(record),
      )
    },
  ),
] as const

/**
 * Publishes a definition and waits for its key as long as the request asks. The registry has the key
 * afterwards.
 */
async function publish(
  { db, definitions }: Agent,
  wallet: Wallet,
  body: CredentialDefinitionInput,
  method: ResolutionMethod,
  waitMs: number,
  whenGone: () => AbortSignal,
): Promise<Answer<typeof json>> {
  const { guid } = await publishDefinition(
    db,
    { ...wallet, owns: (did) => isManagedDid(wallet.db, did) },
    body,
    method,
  )
  const waited = definitions.whenGenerated(
    guid,
    waitMs === 0 ? AbortSignal.abort() : AbortSignal.any([whenGone(), AbortSignal.timeout(waitMs)]),
  )
  definitions.wake()
  await waited
  const record = await getDefinition(db, guid, method)
  if (record.state === 'READY') return { type: json, body: record }
  return { status: 202, type: json, body: record, headers: { 'Preference-Applied': 'respond-async' } }
}

function wrap(record: CredentialDefinitionRecord): PrismEnvelope {
  return toEnvelope(record.author, `${definitionsPath}/did-url/${record.guid}`, record)
}
