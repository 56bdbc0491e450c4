/** Invitations as people hand them on. */
import * as Args from '@oclif/core/args'
import { UsageError } from '../errors/usage.ts'
import { readInput } from './file.ts'

/** The argument of commands that take an invitation; `readInvitation` reads it. */
export const invitationArg = Args.string({
  required: true,
  ignoreStdin: true,
  description: 'the invitation’s URL, the value of its _oob parameter, or - for standard input',
})

/**
 * The raw value of the `_oob` query parameter of an invitation URL: from the URL, from the value itself, or from standard
 * input when the text is `-`. What it holds is for the daemon to judge.
 *
 * @throws {UsageError} when it is empty, or a URL without `_oob`.
 */
export function readInvitation(text: string): string {
  const given = (text === '-' ? readInput(text) : text).trim()
  if (given === '')
    throw new UsageError('There is no invitation: give its URL, or the value of its _oob parameter.')
  if (!/^[a-z][a-z0-9+.-]*:/i.test(given)) return given.replace(/^.*_oob=/, '')
  // Not URLSearchParams: it would turn a `+` of the standard base64 alphabet into a blank.
  const oob = /[?&]_oob=([^&#]*)/.exec(given)?.[1]
  if (!oob) throw new UsageError('That URL is not an invitation: it has no _oob parameter.')
  return decodeURIComponent(oob)
}
