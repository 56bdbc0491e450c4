/** Shapes that the records of all protocols share (api.md 4.6–4.8). */
import { z } from 'zod'

/** How often the agent may still fail to do the next thing by itself, to begin with (api.md 5.1). */
export const firstMetaRetries = 5

/** Why the agent could not do the next thing the last time it tried. */
export const MetaLastFailure = z
  .object({ status: z.int(), type: z.string(), title: z.string(), detail: z.string().optional(), instance: z.string().optional() })
  .meta({ id: 'ErrorResponse' })

/** Fields that every record has. */
export const Meta = {
  metaRetries: z.int().default(firstMetaRetries),
  metaLastFailure: MetaLastFailure.optional(),
}

/** An out-of-band invitation as REST shows it. */
export const Invitation = z
  .object({ id: z.string(), type: z.string(), from: z.string(), invitationUrl: z.string() })
  .meta({ id: 'Invitation' })
export type Invitation = z.infer<typeof Invitation>

/** Leaves out the members that are undefined: what has no value is absent, not null (api.md 1.2). */
export function present<Value extends object>(value: Value): Value {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Value
}
