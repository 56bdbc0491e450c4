/** Metrics of outgoing requests: their duration, by purpose and outcome. */
import type { LabelsOf, Metrics } from '../metrics.ts'
import { UnreachableError, type UnreachableCode } from './unreachable-error.ts'

type Labels = LabelsOf<'http_client_request_duration_seconds'>

export type Purpose = Labels['purpose']

type Outcome = Labels['outcome']

const failures: Readonly<Record<UnreachableCode, Outcome>> = {
  'address-not-allowed': 'not_allowed',
  'bad-encoding': 'bad_answer',
  'bad-request': 'not_allowed',
  'bad-status': 'bad_answer',
  'bad-url': 'not_allowed',
  'host-denied': 'not_allowed',
  'no-such-host': 'unreachable',
  'not-json': 'bad_answer',
  'not-text': 'bad_answer',
  'port-not-allowed': 'not_allowed',
  redirect: 'bad_answer',
  refused: 'unreachable',
  timeout: 'timeout',
  'too-large': 'bad_answer',
}

/** Makes a request, and observes its duration. A result without a status is a document, which came with 200. */
export async function measureCall<T>(metrics: Metrics, purpose: Purpose, call: () => Promise<T>): Promise<T> {
  const start = performance.now()
  const end = (outcome: Outcome) =>
    metrics.observe(
      'http_client_request_duration_seconds',
      { purpose, outcome },
      (performance.now() - start) / 1_000,
    )
  try {
    const result = await call()
    const { status } = Object(result) as { status?: unknown }
    end(typeof status === 'number' ? classOf(status) : '2xx')
    return result
  } catch (error) {
    end(error instanceof UnreachableError ? failures[error.code] : 'unreachable')
    throw error
  }
}

function classOf(status: number): Outcome {
  return status < 300 ? '2xx' : status < 400 ? '3xx' : status < 500 ? '4xx' : '5xx'
}
