/** What the dashboard asks of a daemon, wherever that is by now. */
import type { Client } from '../../daemon/client/client.ts'
import type { EventStream } from '../../daemon/client/event-client.ts'

export type Daemon = {
  /** Calls an endpoint as the tenant. @throws {ProblemError} @throws {DaemonUnreachable} */
  call: Client
  /** Opens the tenant's events, from now on when no id is given. @throws {ProblemError} @throws {DaemonUnreachable} */
  open: (lastEventId: string | undefined, signal: AbortSignal) => Promise<EventStream>
}
