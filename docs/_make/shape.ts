/** How the shape of what a command prints is said: as an operation's answer, or as one of its own. */
import type { z } from 'zod'
import { routes } from '../../daemon/routes/index.ts'
import type { Key, Route } from '../../daemon/http/route.ts'

export type Shape = {
  type: z.ZodType
  /** The operation whose answer it is. */
  operation?: Key
  /** One document a line, for as long as there are any. */
  isLines?: true
  note?: string
}

type RouteKey = (typeof routes)[number]['key']

/** The body that an operation answers with. */
export function bodyOf(key: RouteKey): z.ZodType {
  const { contract } = (routes as readonly Route[]).find((route) => route.key === key)!
  if (!contract.reply[1]) throw new TypeError(`${key} answers with nothing`)
  return contract.reply[1]
}

/** What an operation answers with. */
export const answer = (operation: RouteKey, note?: string): Shape => ({
  type: bodyOf(operation),
  operation,
  ...(note !== undefined && { note }),
})
/** Nobody else's. */
export const own = (type: z.ZodType, note?: string): Shape => ({ type, ...(note !== undefined && { note }) })
/** As `own`, a document a line. */
export const lines = (type: z.ZodType, note: string): Shape => ({ type, isLines: true, note })
