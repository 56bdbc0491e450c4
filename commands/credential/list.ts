/** `agent credential list` */
import { AgentCommand } from '../../cli/base-command.ts'
import { credentialColumns } from '../../cli/format/records.ts'
import { recordFlags, toRecordQuery } from '../../cli/input/filters.ts'

export default class CredentialList extends AgentCommand {
  static override summary = 'List the credential records: offered, accepted, issued and held'
  static override examples = [
    '<%= config.bin %> credential list',
    '<%= config.bin %> credential list --json | jq -r .contents[].recordId',
  ]
  static override flags = recordFlags

  async run() {
    const { flags } = await this.parse(CredentialList)
    const page = await this.call('GET /issue-credentials/records', {
      query: toRecordQuery('credential', flags),
    })
    this.printList(
      page.contents,
      ({ recordId }) => recordId,
      credentialColumns,
      'There are no credential records. `agent credential offer` makes one.',
    )
    this.sayMore(page, flags)
    return page
  }
}
