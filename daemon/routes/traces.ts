/** `/traces` (ours): what happened in a thread, step by step, and what it waits for. */
import { z } from 'zod'
import { Trace } from '../../src/trace/model.ts'
import { getTrace } from '../../src/trace/trace.ts'
import { route } from '../http/route.ts'

const Id = z
  .string()
  .min(1)
  .max(2_000)
  .describe(
    'A thread or a DID; a record, an event or a ping by its id; or the first characters of a thread’s or a record’s, six at least.',
  )

export default [
  route(
    'GET /traces/{id}',
    {
      summary: 'Trace a thread: its messages, states and deliveries, and what it waits for',
      operationId: 'getTrace',
      extension: true,
      access: 'tenant',
      path: { id: Id },
      reply: [200, Trace],
    },
    ({ wallet }, { path: { id } }) => getTrace(wallet, id),
  ),
] as const
