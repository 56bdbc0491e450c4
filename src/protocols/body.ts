/** The bodies of messages whose refusal has no name of its own. */
import type { z } from 'zod'
import { Problem } from '../base/problem.ts'
import { reasonOf } from '../base/reason.ts'
import type { Received } from './engine/receive.ts'

/** Reads a message's body. @throws {Problem} `UnpackingFailed`, naming the member that is wrong. */
export function readBody<Type extends z.ZodType>(
  { body }: Received,
  type: Type,
  name: string,
): z.output<Type> {
  const parsed = type.safeParse(body)
  if (parsed.success) return parsed.data
  throw new Problem(
    'error:DIDCommControllerError:UnpackingFailed',
    `The ${name} cannot be read: ${reasonOf(parsed.error)}.`,
  )
}
