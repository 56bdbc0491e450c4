/** Wallets, entities and keys as REST shows them (service §2.2–2.4, api.md 4.2–4.3). */
import { z } from 'zod'
import { headerText } from '../base/api-key.ts'

/** An optional field: absent and null are the same (decisions.md §2). */
export const optional = <Type extends z.ZodType>(type: Type) =>
  type.nullish().transform((value) => value ?? undefined)

/** A UUID of any version or none, in small letters however it was written (RFC 9562 §4). */
export const Uuid = z.guid().toLowerCase()

/** What an administrator calls a thing. */
export const Name = z.string().min(1).max(128)

export const CreateWallet = z
  .object({
    name: Name,
    seed: optional(
      z.string().regex(/^[0-9a-fA-F]{128}$/, 'is not 128 hexadecimal digits (64 bytes)'),
    ).describe('BIP32 seed, 64 bytes in hexadecimal. Random when left out; never returned.'),
    id: optional(Uuid),
  })
  .meta({ id: 'CreateWalletRequest' })
export type CreateWallet = { name: string; seed?: string | undefined; id?: string | undefined }

export const WalletDetail = z
  .object({
    id: z.guid(),
    name: z.string(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    movedAt: z.iso
      .datetime()
      .optional()
      .describe('When it was exported to go on at another agent: it rests here.'),
  })
  .meta({ id: 'WalletDetail' })
export type WalletDetail = z.infer<typeof WalletDetail>

type WalletRow = { id: string; name: string; created_at: string; updated_at: string; moved_at: string | null }

/** A row of `wallet` as REST shows it. */
export function toWalletDetail({
  id,
  name,
  created_at: createdAt,
  updated_at: updatedAt,
  moved_at: movedAt,
}: WalletRow): WalletDetail {
  return { id, name, createdAt, updatedAt, ...(movedAt !== null && { movedAt }) }
}

export const CreateEntity = z
  .object({ name: Name, id: optional(Uuid), walletId: optional(Uuid) })
  .meta({ id: 'CreateEntityRequest' })
export type CreateEntity = { name: string; id?: string | undefined; walletId?: string | undefined }

export const Entity = z
  .object({
    kind: z.literal('Entity'),
    self: z.string(),
    id: z.guid(),
    name: z.string(),
    walletId: z.guid(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'EntityResponse' })
export type Entity = z.infer<typeof Entity>

export const RenameEntity = z.object({ name: Name }).meta({ id: 'UpdateEntityNameRequest' })
export const RebindEntity = z.object({ walletId: Uuid }).meta({ id: 'UpdateEntityWalletIdRequest' })

/** A key that is registered. The Cloud Agent's document has the same bounds. */
export const RegisteredKey = z
  .string()
  .min(16, 'must have 16 to 128 characters')
  .max(128, 'must have 16 to 128 characters')
  .regex(headerText, 'must be visible ASCII, with no space at its ends')

export const ApiKeyAuthentication = z
  .object({ entityId: Uuid, apiKey: RegisteredKey })
  .meta({ id: 'ApiKeyAuthenticationRequest' })
export type ApiKeyAuthentication = z.infer<typeof ApiKeyAuthentication>

/** A key to remove: an earlier version has registered shorter and longer ones. */
export const ApiKeyRemoval = z
  .object({ entityId: Uuid, apiKey: z.string().min(1).max(512) })
  .meta({ id: 'ApiKeyRemovalRequest' })

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
