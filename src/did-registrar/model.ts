/** The wallet's did:prism DIDs as REST shows them and takes their templates (api.md 4.4). */
import { z } from 'zod'
import { purposes } from '../did/document.ts'

const Curve = z.enum(['secp256k1', 'Ed25519', 'X25519'])

/** `null` and absent are the same (decisions.md §2). */
const list = <Type extends z.ZodType>(type: Type) =>
  z
    .array(type)
    .max(60)
    .nullish()
    .transform((value) => value ?? [])

export const ManagedDidKeyTemplate = z
  .object({
    id: z.string().min(1).describe('The fragment of the key’s DID URL.'),
    purpose: z.enum(purposes),
    curve: Curve.nullish().transform((curve) => curve ?? ('secp256k1' as const)),
  })
  .meta({ id: 'ManagedDIDKeyTemplate' })
export type ManagedDidKeyTemplate = z.output<typeof ManagedDidKeyTemplate>

export const InternalKeyTemplate = z
  .object({ id: z.string().min(1), purpose: z.literal('vdr') })
  .meta({ id: 'ManagedDIDInternalKeyTemplate' })

export const ServiceTemplate = z
  .object({
    id: z.string().min(1),
    type: z.union([z.string().trim().min(1), z.array(z.string().trim().min(1)).min(1)]),
    serviceEndpoint: z.union([z.string(), z.looseObject({}), z.array(z.union([z.string(), z.looseObject({})])).min(1)]),
  })
  .meta({ id: 'ServiceTemplate' })

export const CreateManagedDid = z
  .object({
    documentTemplate: z.object({
      publicKeys: list(ManagedDidKeyTemplate),
      internalKeys: list(InternalKeyTemplate),
      services: list(ServiceTemplate),
      contexts: list(z.string()),
    }),
  })
  .meta({ id: 'CreateManagedDidRequest' })
export type CreateManagedDid = z.output<typeof CreateManagedDid>

export const CreateManagedDidResponse = z.object({ longFormDid: z.string() }).meta({ id: 'CreateManagedDIDResponse' })

export const ManagedDid = z
  .object({
    did: z.string().describe('Short form.'),
    longFormDid: z.string().optional().describe('As long as the DID is not published.'),
    status: z.enum(['CREATED', 'PUBLICATION_PENDING', 'PUBLISHED']),
  })
  .meta({ id: 'ManagedDID' })
export type ManagedDid = z.infer<typeof ManagedDid>

export const DidOperationResponse = z
  .object({ scheduledOperation: z.object({ id: z.string().describe('64 hexadecimal digits.'), didRef: z.string() }) })
  .meta({ id: 'DIDOperationResponse' })
export type DidOperationResponse = z.infer<typeof DidOperationResponse>
