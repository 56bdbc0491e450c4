/** DID requests and challenges as their QR codes carry them: a JSON object, typed, in a file, or on standard input. */
import * as Args from '@oclif/core/args'
import { existsSync } from 'node:fs'
import type { Input } from '../client/answer.ts'
import { UsageError } from '../errors/usage.ts'
import { readInput } from './file.ts'

export type DidRequest = NonNullable<Input<'POST /onboard/answers'>['body']>['didRequest']
export type Challenge = NonNullable<Input<'POST /did-authentication/answers'>['body']>['challenge']

/** The argument of commands that answer. */
export const qrTextArg = Args.string({
  required: true,
  ignoreStdin: true,
  description: 'the text of the QR code, a file that holds it, or - for standard input',
})

/** A DID request, of which the daemon judges all but that it has an endpoint. @throws {UsageError} */
export function readDidRequest(given: string): DidRequest {
  return readQrText(given, 'onboardEndpoint') as DidRequest
}

/** A challenge; as `readDidRequest`. @throws {UsageError} */
export function readChallenge(given: string): Challenge {
  return readQrText(given, 'submissionEndpoint') as Challenge
}

function readQrText(given: string, endpoint: string): Record<string, unknown> {
  const isText = given.trim().startsWith('{')
  if (!isText && given !== '-' && !existsSync(given))
    throw new UsageError(`That is no JSON object, and there is no file ${given}.`)
  const content = parse(isText ? given : readInput(given))
  // What a command prints with --json has it inside.
  const object = content['didRequest'] ?? content['challenge'] ?? content
  const url: unknown = (object as Record<string, unknown>)[endpoint]
  if (typeof url !== 'string' || !URL.canParse(url))
    throw new UsageError(`The QR code's text has no URL as its ${endpoint}.`)
  return object as Record<string, unknown>
}

function parse(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>
  } catch (error) {
    throw new UsageError(`The QR code's text is not JSON: ${(error as Error).message}.`)
  }
}
