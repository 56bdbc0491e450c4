/** `/traces`: the history of a thread, step by step, and what it is waiting for. */
import * as z from 'zod'
import { Trace } from '../../src/operations/trace/model.ts'
import { getTrace } from '../../src/operations/trace/trace.ts'
import { route } from '../http/route.ts'

const Id = z
  .string()
  .min(1)
  .max(2_000)
  .describe(
    'A thread id or DID; the id of a record, event or ping; or at least the first six characters of a thread or record id.',
  )

export default [
  route(
    'GET /traces/{id}',
    {
      summary: 'Trace a thread: its messages, states and deliveries, and what it is waiting for',
      operationId: 'getTrace',
      extension: true,
      access: 'tenant',
      path: { id: Id },
      reply: [200, Trace],
    },
    ({ wallet }, { path: { id } }) => getTrace(wallet, id),
  ),
] as const
