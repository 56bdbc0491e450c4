import { gunzipSync } from 'node:zlib'
import * as z from 'zod'
import { defineCommand } from '../../cli/define-command.ts'
import { CommandError } from '../../cli/errors/errors.ts'
import { argument } from '../../cli/input/arguments.ts'

/** The fields of a StatusList2021 credential that this command reads. */
const StatusList = z.object({
  id: z.string(),
  issuer: z.string(),
  issuanceDate: z.string(),
  credentialSubject: z.object({ statusPurpose: z.string(), encodedList: z.string() }),
})

export default defineCommand({
  summary: 'Show a status list of this agent: its issuer and the number of revoked credentials',
  description:
    'Verifiers fetch this list. It does not name credentials. Its proof is not checked here; `agent credential verify` checks it.',
  examples: [
    'agent credential status-list <id>',
    'agent credential status-list https://issuer.example/credential-status/<id>',
  ],
  args: {
    list: argument('id of the list, or its URL'),
  },
  async run({ args, call, getAccess, print }) {
    const id = args.list
      .replace(/[?#].*$/s, '')
      .split('/')
      .at(-1)!
    const answer = await call('GET /credential-status/{id}', { path: { id } })
    const { success, data: list } = StatusList.safeParse(answer)
    if (!success)
      throw new CommandError(
        `The list at this id of ${getAccess().url} is not a StatusList2021 credential.`,
        1,
      )
    const { statusPurpose, encodedList } = list.credentialSubject
    const bits = gunzipSync(Buffer.from(encodedList, 'base64url'))
    print(id, [
      ['list', id],
      ['url', list.id],
      ['purpose', statusPurpose.toLowerCase()],
      ['entries', `${bits.length * 8}, ${countOnes(bits)} of them set`],
      ['issuer', list.issuer],
      ['signed', list.issuanceDate],
    ])
    return answer
  },
})

function countOnes(bytes: Uint8Array): number {
  let count = 0
  for (const byte of bytes) for (let rest = byte; rest > 0; rest &= rest - 1) count += 1
  return count
}
