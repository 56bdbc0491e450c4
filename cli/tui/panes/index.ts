/** The panes, in the order of their keys. */
import { connections } from './connections.ts'
import { credentials } from './credentials.ts'
import { dids } from './dids.ts'
import { events } from './events.ts'
import type { Pane, PaneName } from './pane.ts'
import { proofs } from './proofs.ts'
import { webhooks } from './webhooks.ts'

/** The panes by name. Only a pane knows the type of its items. */
export const panes: Readonly<Record<PaneName, Pane<any>>> = {
  connections,
  credentials,
  proofs,
  dids,
  webhooks,
  events,
}
