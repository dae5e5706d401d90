/** `/v1/audit` (design §9): the record of the caller's own tenant, oldest first. */

import { Controller, Get, Query, SerializeOptions } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Actor } from '../auth/actor.js';
import { CurrentActor, RequiresScope } from '../auth/decorators.js';
import { AuditPageBody, AuditQuery } from './audit.contract.js';
import { Audit } from './audit.js';

@ApiTags('evidence')
@Controller('v1/audit')
export class AuditController {
  constructor(private readonly audit: Audit) {}

  @Get()
  @RequiresScope('audit:read')
  @ApiOperation({ summary: 'The audit record of my tenant, oldest first' })
  @ApiResponse({ status: 200, standardSchema: AuditPageBody })
  @SerializeOptions({ schema: AuditPageBody })
  list(@CurrentActor() actor: Actor, @Query({ schema: AuditQuery }) { after, limit }: AuditQuery): Promise<AuditPageBody> {
    return this.audit.list(actor.tenant, { limit, ...(after !== undefined && { after }) });
  }
}
