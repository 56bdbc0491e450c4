/** `agent credential status-list` */
import { gunzipSync } from 'node:zlib'
import * as Args from '@oclif/core/args'
import { z } from 'zod'
import { AgentCommand } from '../../cli/base-command.ts'
import { CommandError } from '../../cli/errors/errors.ts'

/** What is read of a StatusList2021 credential. */
const StatusList = z.object({
  id: z.string(),
  issuer: z.string(),
  issuanceDate: z.string(),
  credentialSubject: z.object({ statusPurpose: z.string(), encodedList: z.string() }),
})

export default class CredentialStatusList extends AgentCommand {
  static override summary =
    'Show a status list of this agent: who signs it, and how many credentials it says are revoked'
  static override description =
    'The list is what verifiers fetch; which credentials are meant it does not say. Its proof is not checked here: `agent credential verify` does that.'
  static override examples = [
    '<%= config.bin %> credential status-list <id>',
    '<%= config.bin %> credential status-list https://issuer.example/credential-status/<id>',
  ]
  static override args = {
    list: Args.string({
      required: true,
      ignoreStdin: true,
      description: 'id of the list, or the URL that credentials name',
    }),
  }

  async run() {
    const { args } = await this.parse(CredentialStatusList)
    const id = args.list
      .replace(/[?#].*$/s, '')
      .split('/')
      .at(-1)!
    const answer = await this.call('GET /credential-status/{id}', { path: { id } })
    const { success, data: list } = StatusList.safeParse(answer)
    if (!success)
      throw new CommandError(`What ${this.access.url} has at this id is no StatusList2021 credential.`, 1)
    const { statusPurpose, encodedList } = list.credentialSubject
    const bits = gunzipSync(Buffer.from(encodedList, 'base64url'))
    this.print(id, [
      ['list', id],
      ['url', list.id],
      ['purpose', statusPurpose.toLowerCase()],
      ['entries', `${bits.length * 8}, ${countOnes(bits)} of them set`],
      ['issuer', list.issuer],
      ['signed', list.issuanceDate],
    ])
    return answer
  }
}

function countOnes(bytes: Uint8Array): number {
  let count = 0
  for (const byte of bytes) for (let rest = byte; rest > 0; rest &= rest - 1) count += 1
  return count
}
