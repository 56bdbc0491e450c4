/** The types of the DID Registrar API: a wallet's DIDs, document templates and update actions. */
import * as z from 'zod'
import {
  curves,
  fetchedMethods,
  keyCurves,
  keyMethods,
  managedMethods,
  namedMethods,
  namesOf,
  purposes,
  usualMethod,
} from '../../definitions/did-names.ts'

const quoted = (methods: readonly string[]) => methods.map((name) => `\`${name}\``).join(' or ')

const Label = z.string().trim().max(255)

/** A list. Null and absent mean empty. */
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
    curve: z
      .enum(curves)
      .nullish()
      .transform((curve) => curve ?? ('secp256k1' as const)),
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
    serviceEndpoint: z.union([
      z.string(),
      z.looseObject({}),
      z.array(z.union([z.string(), z.looseObject({})])).min(1),
    ]),
  })
  .meta({ id: 'ServiceTemplate' })

export const CreateManagedDid = z
  .object({
    method: z
      .enum(managedMethods)
      .nullish()
      .describe(
        `Extension. \`${usualMethod}\` when absent. This agent serves the document of a ${quoted(fetchedMethods)} DID. A ${quoted(keyMethods)} DID is one key, and its \`documentTemplate\` is empty.`,
      ),
    curve: z
      .enum(keyCurves)
      .nullish()
      .describe(`Extension. The curve of a ${quoted(keyMethods)} DID. \`P-256\` when absent.`),
    name: z
      .string()
      .regex(
        /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$/,
        'is not 1 to 64 letters, digits, dots, hyphens and underscores, a letter or digit at both ends',
      )
      .nullish()
      .describe(
        `Extension. The last part of a ${quoted(namedMethods)} DID, unique on this agent. Random when absent.`,
      ),
    label: Label.nullish().describe(
      'Extension. The wallet’s name for the DID, for lists and questions. It is not in the document.',
    ),
    documentTemplate: z.object({
      publicKeys: list(ManagedDidKeyTemplate),
      internalKeys: list(InternalKeyTemplate),
      services: list(ServiceTemplate),
      contexts: list(z.string()),
    }),
  })
  .meta({ id: 'CreateManagedDidRequest' })
export type CreateManagedDid = z.output<typeof CreateManagedDid>

export const CreateManagedDidResponse = z
  .object({
    longFormDid: z
      .string()
      .describe('A DID that resolves at once: the long form of a did:prism, or the DID of another method.'),
  })
  .meta({ id: 'CreateManagedDIDResponse' })

export const ManagedDid = z
  .object({
    did: z.string().describe('Short form.'),
    longFormDid: z.string().optional().describe('Present until the DID is published.'),
    status: z.enum(['CREATED', 'PUBLICATION_PENDING', 'PUBLISHED']),
    label: z.string().optional().describe('Extension. The wallet’s name for the DID.'),
  })
  .meta({ id: 'ManagedDID' })
export type ManagedDid = z.infer<typeof ManagedDid>

export const LabelDid = z
  .object({ label: Label.describe('The wallet’s name for the DID; an empty text removes it.') })
  .meta({ id: 'LabelManagedDIDRequest', examples: [{ label: 'Acme signing' }] })

/** Why an operation is delayed or was rejected. */
export const Failure = z.object({ status: z.int(), type: z.string(), title: z.string(), detail: z.string() })
export type Failure = z.infer<typeof Failure>

export const ManagedDidDetail = ManagedDid.extend({
  deactivated: z
    .literal(true)
    .optional()
    .describe('Extension. Present when the DID is deactivated. Its status stays PUBLISHED.'),
  pendingOperation: z
    .string()
    .optional()
    .describe('Extension. The id of the operation that the ledger has not confirmed or rejected yet.'),
  metaLastFailure: Failure.optional().describe(
    'Extension. Why that operation is delayed, or why the last one was rejected.',
  ),
}).meta({ id: 'ManagedDIDDetail' })
export type ManagedDidDetail = z.infer<typeof ManagedDidDetail>

export const RestoredDid = ManagedDidDetail.extend({
  missingKeys: z
    .array(z.string())
    .describe(
      'The ids of its keys that are not derived from the seed and cannot be restored. Their earlier signatures stay valid.',
    ),
}).meta({ id: 'RestoredDID' })
export type RestoredDid = z.infer<typeof RestoredDid>

export const RestoreDids = z
  .object({
    dids: z
      .array(
        z.string().regex(new RegExp(`^did:(?:${keyMethods.join('|')}):`), `is not a ${namesOf(keyMethods)}`),
      )
      .max(100)
      .nullish()
      .describe(
        `${namesOf(keyMethods, 'and')} DIDs to restore: their keys are searched for among those of the seed. When absent, the published DIDs of the ledger.`,
      ),
  })
  .meta({ id: 'RestoreDIDsRequest' })

export const Restoration = z.object({ restored: z.array(RestoredDid) }).meta({ id: 'DIDRestoration' })

export const DidOperationResponse = z
  .object({
    scheduledOperation: z.object({ id: z.string().describe('64 hexadecimal digits.'), didRef: z.string() }),
  })
  .meta({ id: 'DIDOperationResponse' })
export type DidOperationResponse = z.infer<typeof DidOperationResponse>

const ById = z.object({ id: z.string().min(1) }).meta({ id: 'RemoveEntryById' })

/** An absent type or endpoint stays unchanged. */
const ServicePatch = z
  .object({
    id: ServiceTemplate.shape.id,
    type: ServiceTemplate.shape.type.nullish(),
    serviceEndpoint: ServiceTemplate.shape.serviceEndpoint
      .refine((endpoint) => endpoint !== '', 'is empty: leave it out to keep the one there is')
      .nullish(),
  })
  .refine(
    ({ type, serviceEndpoint }) => (type ?? serviceEndpoint) != null,
    "changes nothing: 'type' and 'serviceEndpoint' cannot both be empty",
  )
  .meta({ id: 'UpdateManagedDIDServiceAction' })

const Contexts = z.object({ contexts: list(z.string()) }).meta({ id: 'PatchContextAction' })

export const UpdateAction = z
  .discriminatedUnion('actionType', [
    z.object({ actionType: z.literal('ADD_KEY'), addKey: ManagedDidKeyTemplate }),
    z.object({ actionType: z.literal('REMOVE_KEY'), removeKey: ById }),
    z.object({ actionType: z.literal('ADD_INTERNAL_KEY'), addInternalKey: InternalKeyTemplate }),
    z.object({ actionType: z.literal('REMOVE_INTERNAL_KEY'), removeInternalKey: ById }),
    z.object({ actionType: z.literal('ADD_SERVICE'), addService: ServiceTemplate }),
    z.object({ actionType: z.literal('REMOVE_SERVICE'), removeService: ById }),
    z.object({ actionType: z.literal('UPDATE_SERVICE'), updateService: ServicePatch }),
    z.object({ actionType: z.literal('PATCH_CONTEXT'), patchContext: Contexts }),
  ])
  .meta({ id: 'UpdateManagedDIDRequestAction' })
export type UpdateAction = z.output<typeof UpdateAction>

export const UpdateManagedDid = z
  .object({ actions: z.array(UpdateAction).min(1, 'is empty: name at least one action').max(200) })
  .meta({ id: 'UpdateManagedDIDRequest' })
export type UpdateManagedDid = z.output<typeof UpdateManagedDid>
