/** Credential schemas under DID URLs: a registry of their own beside the one of those under the agent's address (service §4.6). */
import * as Flags from '@oclif/core/flags'
import type { Answer } from '../client/answer.ts'
import { pagingFlags } from './paging.ts'
import { schemaUrl } from './schema.ts'

type Schema = Answer<'GET /schema-registry/schemas/{guid}'>
type Envelope = Answer<'GET /schema-registry/schemas/did-url/{guid}'>

export const didUrlFlag = Flags.boolean({
  description: 'of those that a DID URL of their author names, instead of one of this agent',
})

/** Of the list of a registry: which of its two lists, what of it, and how much. */
export const registryFlags = {
  name: Flags.string({ description: 'only those of this name' }),
  version: Flags.string({ description: 'only those of this version' }),
  author: Flags.string({ description: 'only those of this author' }),
  tag: Flags.string({ description: 'only those with this tag' }),
  'did-url': didUrlFlag,
  ...pagingFlags,
}

/** What an envelope holds: base64url of JSON. */
export function open(envelope: Envelope): unknown {
  return JSON.parse(Buffer.from(envelope.resource, 'base64url').toString())
}

/** The schema in an envelope; one that is in none is itself. */
export function openSchema(answer: Schema | Envelope): Schema {
  return 'resource' in answer ? (open(answer) as Schema) : answer
}

/** Where others find a schema: at its DID URL where it has one, otherwise at the daemon at `baseUrl`. */
export function publicUrl(answer: Schema | Envelope, baseUrl: string): string {
  return 'resource' in answer ? answer.url : schemaUrl(answer.guid, baseUrl)
}
