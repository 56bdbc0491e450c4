/** REST models of wallets, entities and API keys. */
import * as z from 'zod'
import { headerText } from '../foundation/api-key.ts'
import type { AgentTx } from '../foundation/storage/database.ts'

/** An optional field. The Cloud Agent treats null as absent. */
export const optional = <Type extends z.ZodType>(type: Type) =>
  type.nullish().transform((value) => value ?? undefined)

/** A UUID of any version, normalised to lower case (RFC 9562 §4). */
export const Uuid = z.guid().toLowerCase()

export const Name = z.string().min(1).max(128)

export const CreateWallet = z
  .object({
    name: Name,
    seed: optional(
      z.string().regex(/^[0-9a-fA-F]{128}$/, 'is not 128 hexadecimal digits (64 bytes)'),
    ).describe('BIP32 seed, 64 bytes in hexadecimal. Random when absent. Never returned.'),
    id: optional(Uuid),
  })
  .meta({ id: 'CreateWalletRequest' })
export type CreateWallet = { name: string; seed?: string | undefined; id?: string | undefined }

/** Writes more in the transaction that inserts the row of a new wallet. */
export type CompleteWallet = (tx: AgentTx, walletId: string) => Promise<void>

export const WalletDetail = z
  .object({
    id: z.guid(),
    name: z.string(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    movedAt: z.iso
      .datetime()
      .optional()
      .describe('When the wallet was transferred to another agent. It is suspended here.'),
  })
  .meta({ id: 'WalletDetail' })
export type WalletDetail = z.infer<typeof WalletDetail>

type WalletRow = { id: string; name: string; created_at: string; updated_at: string; moved_at: string | null }

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

/** A key to register. The lengths are those of the Cloud Agent. */
export const RegisteredKey = z
  .string()
  .min(16, 'must have 16 to 128 characters')
  .max(128, 'must have 16 to 128 characters')
  .regex(headerText, 'must be visible ASCII, with no space at its ends')

export const ApiKeyAuthentication = z
  .object({ entityId: Uuid, apiKey: RegisteredKey })
  .meta({ id: 'ApiKeyAuthenticationRequest' })
export type ApiKeyAuthentication = z.infer<typeof ApiKeyAuthentication>

/** A key to delete. Release 0.1.0 registered keys of other lengths. */
export const ApiKeyRemoval = z
  .object({ entityId: Uuid, apiKey: z.string().min(1).max(512) })
  .meta({ id: 'ApiKeyRemovalRequest' })

/** The roles that a key may act in, and read-only access. */
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
    name: optional(Name).describe('A label, such as the program that uses the key.'),
    scopes: optional(Scopes).describe('What the key may be used for. Everything when absent.'),
    expiresAt: optional(Moment).describe('When the key expires. Never when absent.'),
    replaces: optional(
      z
        .object({ id: Uuid, until: Moment })
        .describe(
          'The key that the new one replaces. Both are valid until then. Name and scopes are copied unless given.',
        ),
    ),
  })
  .meta({ id: 'CreateApiKeyRequest' })
export type CreateApiKey = Partial<z.output<typeof CreateApiKey>>

export const ApiKey = z
  .object({
    kind: z.literal('ApiKey'),
    id: z.guid(),
    entityId: z.guid(),
    name: z.string().optional(),
    scopes: z.array(Scope).optional().describe('Everything when absent.'),
    state: z.enum(['active', 'expired', 'revoked']),
    createdAt: z.iso.datetime(),
    lastUsedAt: z.iso.datetime().optional().describe('Accurate to a minute.'),
    expiresAt: z.iso.datetime().optional(),
    revokedAt: z.iso.datetime().optional(),
  })
  .meta({ id: 'ApiKey' })
export type ApiKey = z.infer<typeof ApiKey>

export const NewApiKey = ApiKey.extend({
  apiKey: z.string().describe('The key itself. It is returned only once.'),
}).meta({ id: 'NewApiKey' })
export type NewApiKey = z.infer<typeof NewApiKey>
