/** `/audit` (ours): who did what, and who was refused; for the administrator. */
import { z } from 'zod'
import { AuditEntry, Filter } from '../../src/audit/entry.ts'
import { AuditVerification, Head } from '../../src/audit/verify.ts'
import { Page, Paging, toPage } from '../http/paging.ts'
import { route } from '../http/route.ts'

export default [
  route(
    'GET /audit',
    {
      summary: 'List what was done and who was refused, newest first',
      operationId: 'listAuditEntries',
      extension: true,
      access: 'admin',
      query: Paging.omit({ order: true }).extend(Filter.shape),
      reply: [200, Page('AuditPage', AuditEntry, 'AuditPage')],
    },
    async ({ agent }, { query: { offset, limit, ...filter }, target }) => {
      // One more tells whether there are more: counting them all takes longer than reading a page.
      const found = await agent.audit.list(filter, { offset, limit: limit + 1 })
      return toPage(
        'AuditPage',
        { target, offset, limit, total: offset + found.length },
        found.slice(0, limit),
      )
    },
  ),

  route(
    'GET /audit/verification',
    {
      summary: 'Verify that nobody has altered the audit log',
      operationId: 'verifyAuditLog',
      extension: true,
      access: 'admin',
      query: z.object({
        head: Head.optional().describe('The head of an earlier verification: is it there still?'),
      }),
      reply: [200, AuditVerification],
    },
    ({ agent }, { query: { head } }) => agent.audit.verify(head),
  ),
] as const
