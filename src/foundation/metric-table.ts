/**
 * All metrics of the agent: what they are called, what they measure, and the labels that they have with their
 * values.
 *
 * Names follow Prometheus (base units, `_total`) and, for HTTP, the semantic conventions of OpenTelemetry. A
 * label whose values are not listed here takes them from the code of the agent: routes, message types,
 * problem types. No label has a wallet, a tenant, a DID, a connection or a host, so the number of series does
 * not grow with use. docs/operate/metrics.md lists the table; a test compares both.
 */
import { eventSubjects } from '../definitions/event-subjects.ts'
import { credentialFormats } from '../definitions/format-names.ts'
import { definitions } from '../definitions/protocols.ts'

/** The values of a label; `any` if the code has them. */
type Values = readonly string[] | 'any'
type Labels = Readonly<Record<string, Values>>

export type Definition = {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: Labels
  /** Upper bounds of the buckets of a histogram, ascending. */
  readonly buckets?: readonly number[]
}

function counter<const L extends Labels>(help: string, labels: L) {
  return { type: 'counter', help, labels } as const
}

function gauge<const L extends Labels = {}>(help: string, labels = {} as L) {
  return { type: 'gauge', help, labels } as const
}

function histogram<const L extends Labels>(help: string, labels: L, buckets: readonly number[]) {
  return { type: 'histogram', help, labels, buckets } as const
}

/** Seconds of requests, of writes, and of what may wait for an hour. */
const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const writeBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1]
const waitBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30, 300, 3_600]

const protocol: readonly string[] = definitions.map(({ name }) => name)
const format = credentialFormats
const lastJob = (what: string) =>
  gauge(`Milliseconds of the last DIDComm job of ${what}. The name is the Cloud Agent’s, for its dashboards.`)

export const metricTable = {
  agent_build_info: gauge('The release of the agent and of Node.js. Always 1.', {
    version: 'any',
    node: 'any',
  }),
  agent_ready: gauge('Whether GET /_system/ready answers 200.'),
  agent_data_folder_available_bytes: gauge('Free bytes of the disk that holds the data folder.'),
  agent_event_loop_active_seconds_total: counter(
    'Seconds in which the event loop was busy. Its rate is the utilisation, 0 to 1.',
    {},
  ),

  http_server_request_duration_seconds: histogram(
    'Requests of both servers until the head of the response. Requests that wait, such as event streams with `wait`, take as long as they wait.',
    { http_request_method: 'any', http_route: 'any', http_response_status_code: 'any' },
    requestBuckets,
  ),
  http_client_request_duration_seconds: histogram(
    'Requests to other servers, by purpose and outcome: the class of the status, or why there is none.',
    {
      purpose: ['message', 'webhook', 'claims', 'document', 'did-web', 'ledger', 'other'],
      outcome: ['2xx', '3xx', '4xx', '5xx', 'timeout', 'unreachable', 'not_allowed', 'bad_answer'],
    },
    requestBuckets,
  ),
  agent_http_connections: gauge('Open connections of the two servers.', { server: ['api', 'didcomm'] }),
  agent_http_requests_waiting: gauge('Requests that wait for a slot of their client.'),
  agent_event_streams: gauge('Open event streams.'),

  agent_flow_transitions_total: counter('Transitions of records, by the state that they lead to.', {
    protocol,
    role: 'any',
    state: 'any',
  }),
  agent_flows_ended_total: counter(
    'Flows that ended: a state that ends the flow was reached for the first time.',
    { protocol, role: 'any', outcome: ['completed', 'stopped', 'not_verified'] },
  ),
  agent_credentials_issued_total: counter('Credentials that were made for a holder.', { format }),
  agent_credentials_received_total: counter('Credentials that arrived for a holder, by the verdict.', {
    format,
    result: ['accepted', 'refused'],
  }),
  agent_credentials_revoked_total: counter('Credentials that were revoked.', { format }),
  agent_presentations_received_total: counter('Presentations that arrived for a verifier, by the verdict.', {
    format,
    result: ['accepted', 'refused'],
  }),
  agent_did_operations_total: counter('DID operations that the ledger has decided on.', {
    operation: ['create', 'update', 'deactivate'],
    result: ['confirmed', 'rejected'],
  }),

  agent_messages_received_total: counter('DIDComm messages that were accepted, by protocol and message.', {
    type: 'any',
  }),
  agent_messages_refused_total: counter('DIDComm messages that were refused, by the type of the problem.', {
    reason: 'any',
  }),
  agent_messages_sent_total: counter(
    'DIDComm messages that were delivered, refused by the other side, or abandoned after MESSAGE_RETRY_FOR.',
    { type: 'any', outcome: ['delivered', 'refused', 'abandoned'] },
  ),
  agent_job_duration_seconds: histogram(
    'Attempts at jobs: messages to send and tasks, such as issuing. `postponed` ones wait for the ledger.',
    { kind: ['message', 'task'], outcome: ['done', 'failed', 'postponed'] },
    requestBuckets,
  ),
  agent_jobs_waiting: gauge('Jobs that wait or run, in all wallets.'),
  agent_oldest_job_age_seconds: gauge('Seconds since the oldest of these jobs was added; 0 without jobs.'),

  agent_events_total: counter('Events in the logs of the wallets.', {
    type: Object.keys(eventSubjects),
  }),
  agent_webhook_deliveries_total: counter(
    'Attempts to deliver an event to a webhook. The third failure makes it a dead letter.',
    { kind: ['automatic', 'replay'], outcome: ['delivered', 'retried', 'dead_letter'] },
  ),
  agent_webhook_delivery_latency_seconds: histogram(
    'Time from the event until its webhook has accepted it. Not of replays.',
    {},
    waitBuckets,
  ),
  agent_webhook_events_waiting: gauge('Events that wait for webhooks, in all wallets.'),
  agent_oldest_webhook_event_age_seconds: gauge(
    'Seconds since the oldest of these events was written; 0 without such events.',
  ),

  connection_flow_did_com_exchange_job_ms_gauge: lastJob('a connection'),
  issuance_flow_did_com_exchange_job_ms_gauge: lastJob('an issuance'),
  present_proof_flow_did_com_exchange_job_ms_gauge: lastJob('a presentation'),

  agent_db_transaction_duration_seconds: histogram(
    'Transactions of wallets, from the first write of a group to the flush of the disk. A refused write that is alone rolls its transaction back.',
    { outcome: ['committed', 'rolled_back'] },
    writeBuckets,
  ),
  agent_db_writes_total: counter(
    'Writes of wallets that were committed. Several writes share a transaction.',
    {},
  ),
  agent_issuer_certificate_earliest_end_timestamp_seconds: gauge(
    'When the first issuer certificate of a wallet ends, in seconds since 1970. The wallets are searched once an hour. No value without certificates.',
  ),
  agent_wallets: gauge('Wallets of this agent.'),
  agent_wallets_open: gauge('Open wallet files.'),
} as const satisfies Record<string, Definition>
