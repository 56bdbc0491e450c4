/**
 * The export `identity-agent/client`: a client for Node.js and browsers, without dependencies.
 *
 * ```ts
 * const client = createClient('http://127.0.0.1:8085', { apiKey })
 * const connection = await client('POST /connections', { body: { label: 'Alice' } })
 * await waitFor(client, connection, 'ConnectionResponseSent')
 * ```
 */
export { ProblemError, type ProblemBody } from '../../daemon/client/call.ts'
export { createClient } from './client.ts'
export type { CallOptions, Client, ClientOptions, Endpoint, FetchInit, Input, Reply } from './client.ts'
export { StateError, TimedOutError, UnexpectedAnswerError, UnreachableError, WebhookError } from './errors.ts'
export type { WebhookFault } from './errors.ts'
export { events, firstEvent } from './events.ts'
export type { AgentEvent, DataOf, EventOptions, EventStream, EventType } from './events.ts'
export { verifyWebhook, verifyWebhookBatch } from './verify-webhook.ts'
export type { VerifyOptions, WebhookHeaders } from './verify-webhook.ts'
export { waitFor } from './wait-for.ts'
export type { RecordEvent, RecordIn, StateOf, WaitOptions, Which } from './wait-for.ts'
