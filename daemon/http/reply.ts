/** Responses of endpoints. */
import { Readable } from 'node:stream'
import { isDeepStrictEqual } from 'node:util'
import type { Context } from 'koa'
import type * as z from 'zod'
import type { Answer, Route } from './route.ts'

/** Sends the result of a handler. With `isChecked`, a result that differs from the contract is an error. */
export function reply(ctx: Context, { key, contract }: Route, result: unknown, isChecked: boolean): void {
  const [status, type] = contract.reply
  if (contract.media) return sendAnswer(ctx, status, result as Answer)
  if (isChecked && type) assertFits(key, type, result)
  ctx.body = type ? result : null
  ctx.status = status
  if (type) ctx.set('Content-Type', 'application/json')
}

function sendAnswer(
  ctx: Context,
  success: number,
  { status = success, type, body, headers = {} }: Answer,
): void {
  ctx.status = status
  ctx.set('Content-Type', type)
  ctx.set(headers)
  if (body instanceof Uint8Array) ctx.body = Buffer.from(body)
  else ctx.body = typeof body === 'string' || body instanceof Readable ? body : JSON.stringify(body)
  // The client has it already (RFC 9110 §13.1.2).
  if (ctx.fresh) ctx.status = 304
}

function assertFits(key: string, type: z.ZodType, result: unknown): void {
  const sent: unknown = JSON.parse(JSON.stringify(result))
  if (!isDeepStrictEqual(sent, type.parse(sent)))
    throw new Error(`${key} replies with more than its contract says: ${JSON.stringify(sent)}`)
}
