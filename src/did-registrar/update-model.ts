/** The actions of an update as REST takes them (api.md 4.4): `actionType` names the member that says more. */
import { z } from 'zod'
import { InternalKeyTemplate, ManagedDidKeyTemplate, ServiceTemplate } from './model.ts'

const ById = z.object({ id: z.string().min(1) }).meta({ id: 'RemoveEntryById' })

/** An update may leave out the type or the endpoint, which then stays. */
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

const Contexts = z
  .object({
    contexts: z
      .array(z.string())
      .max(60)
      .nullish()
      .transform((value) => value ?? []),
  })
  .meta({ id: 'PatchContextAction' })

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
