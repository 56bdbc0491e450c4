/** Templates of credentials, by name. A file of this folder has one. */
import ageOver18 from './age-over-18.ts'
import diploma from './diploma.ts'
import employee from './employee.ts'
import mdl from './mdl.ts'
import membership from './membership.ts'
import person from './person.ts'
import pid from './pid.ts'
import ticket from './ticket.ts'
import type { TemplateFile } from './model.ts'

const files = { employee, membership, diploma, person, 'age-over-18': ageOver18, ticket, mdl, pid } as const

export type TemplateName = keyof typeof files
export const templateNames = Object.keys(files) as [TemplateName, ...TemplateName[]]

export function getTemplate(name: TemplateName): TemplateFile {
  return files[name]
}
