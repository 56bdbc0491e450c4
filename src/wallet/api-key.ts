/** API keys as REST shows them (ours; those of the Cloud Agent's API have no name and no end, api.md 4.3). */
import { z } from 'zod'
import { Name, optional, Uuid } from './model.ts'

/** What a key may be for: the three roles of the field, and reading alone. */
export const allScopes = ['issuer', 'holder', 'verifier', 'read'] as const
export const Scope = z.enum(allScopes)
export type Scope = z.infer<typeof Scope>

const Scopes = z
  .array(Scope)
  .min(1)
  .transform((scopes) => allScopes.filter((each) => scopes.includes(each)))
const Moment = z.iso.datetime({ offset: true }).transform((text) => new Date(text).toISOString())

export const CreateApiKey = z
  .object({
    name: optional(Name).describe('What the key is called, such as the program that has it.'),
    scopes: optional(Scopes).describe('What the key may be used for; everything when left out.'),
    expiresAt: optional(Moment).describe('When the key lets nobody in any more; never when left out.'),
    replaces: optional(
      z
        .object({ id: Uuid, until: Moment })
        .describe(
          'The key that this one stands in for: both let in until then. Name and scopes are its, unless others are given.',
        ),
    ),
  })
  .meta({ id: 'CreateApiKeyRequest' })
export type CreateApiKey = {
  name?: string | undefined
  scopes?: Scope[] | undefined
  expiresAt?: string | undefined
  replaces?: { id: string; until: string } | undefined
}

export const ApiKey = z
  .object({
    kind: z.literal('ApiKey'),
    id: z.guid(),
    entityId: z.guid(),
    name: z.string().optional(),
    scopes: z.array(Scope).optional().describe('Absent: everything.'),
    state: z.enum(['active', 'expired', 'revoked']),
    createdAt: z.iso.datetime(),
    lastUsedAt: z.iso.datetime().optional().describe('To the minute.'),
    expiresAt: z.iso.datetime().optional(),
    revokedAt: z.iso.datetime().optional(),
  })
  .meta({ id: 'ApiKey' })
export type ApiKey = z.infer<typeof ApiKey>

export const NewApiKey = ApiKey.extend({ apiKey: z.string().describe('The key itself, this once.') }).meta({
  id: 'NewApiKey',
})
export type NewApiKey = z.infer<typeof NewApiKey>
