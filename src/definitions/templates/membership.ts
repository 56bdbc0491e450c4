/** Membership. */
import type { TemplateFile } from './model.ts'

export default {
  title: 'Membership',
  summary: 'Membership of a club, a library or a loyalty programme',
  display: { backgroundColor: '#26a269', textColor: '#ffffff' },
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Membership',
    type: 'object',
    properties: {
      name: { type: 'string', title: 'Name' },
      memberId: { type: 'string', title: 'Member number' },
      organization: { type: 'string', title: 'Organisation' },
      level: { type: 'string', title: 'Level', enum: ['standard', 'silver', 'gold'] },
      since: { type: 'string', title: 'Member since', format: 'date' },
      until: { type: 'string', title: 'Valid until', format: 'date' },
    },
    required: ['name', 'memberId', 'organization'],
    additionalProperties: false,
  },
  example: {
    name: 'Alice Smith',
    memberId: 'M-2718',
    organization: 'City Library',
    level: 'gold',
    since: '2023-01-01',
    until: '2027-12-31',
  },
} as const satisfies TemplateFile
