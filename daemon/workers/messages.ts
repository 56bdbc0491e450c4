/** The messages between the supervisor and its workers, over the IPC channel of Node.js. */
import * as z from 'zod'

const Ports = z.object({ rest: z.int(), didcomm: z.int() })
export type Ports = z.infer<typeof Ports>

/** A server of the daemon, by the name of its port. */
const ServerName = z.enum(['rest', 'didcomm'])
export type ServerName = z.infer<typeof ServerName>

/**
 * Messages between workers, which the supervisor passes on: of changed rows (`worker.ts`), and of backups
 * (`write-barrier.ts`).
 */
const Shared = z.discriminatedUnion('type', [
  z.object({ type: z.literal('changed'), kind: z.string() }),
  z.object({ type: z.literal('pause') }),
  z.object({ type: z.literal('paused') }),
  z.object({ type: z.literal('continue') }),
  z.object({ type: z.literal('release') }),
  z.object({ type: z.literal('before-write'), walletId: z.string() }),
  z.object({ type: z.literal('may-write'), walletId: z.string() }),
])
export type Shared = z.infer<typeof Shared>

/** Sent before the worker serves requests. */
const Opened = z.object({
  type: z.literal('opened'),
  url: z.string(),
  didcommUrl: z.string(),
  publicDidcommUrl: z.string(),
  certificate: z.string().optional(),
  authority: z.string().optional(),
  moved: z.array(z.string()),
  apiKey: z.string().optional(),
})
export type Opened = z.infer<typeof Opened>

export const FromWorker = z.discriminatedUnion('type', [
  Opened,
  /** The worker serves requests. Other workers send it theirs at `address`. */
  z.object({ type: z.literal('ready'), address: z.string() }),
  /** The worker cannot start: one sentence, and the exit code of the daemon. */
  z.object({ type: z.literal('failed'), message: z.string(), exitCode: z.int() }),
  /** The worker has the connection that it was given. */
  z.object({ type: z.literal('accepted') }),
  /** The worker ends. It takes no more connections: also not one that it was given and has not acknowledged. */
  z.object({ type: z.literal('ending') }),
  /** A message for another worker; without `to`, for all others. */
  z.object({ type: z.literal('relay'), to: z.int().optional(), message: Shared }),
])
export type FromWorker = z.infer<typeof FromWorker>

const Start = z.object({
  type: z.literal('start'),
  index: z.int(),
  count: z.int(),
  /** No other worker runs until this one serves requests. */
  startsAlone: z.boolean(),
  ports: Ports,
  /** The worker that makes a backup. */
  pausedBy: z.int().optional(),
})
export type Start = z.infer<typeof Start>

/** `isRunning`: its process is there. `address`: null while it does not serve requests. */
const WorkerState = z.object({ isRunning: z.boolean(), address: z.string().nullable() })
export type WorkerState = z.infer<typeof WorkerState>

export const ToWorker = z.discriminatedUnion('type', [
  Start,
  z.object({ type: z.literal('serve') }),
  /** A connection of a client, which comes with the message. */
  z.object({ type: z.literal('connection'), to: ServerName }),
  z.object({ type: z.literal('workers'), workers: z.array(WorkerState) }),
  z.object({ type: z.literal('relayed'), from: z.int(), message: Shared }),
  z.object({ type: z.literal('stop') }),
])
export type ToWorker = z.infer<typeof ToWorker>
