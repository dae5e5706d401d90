/** `/v1/receipts` (design §9). */

import { Controller, Get, Param, SerializeOptions } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Actor } from '../auth/actor.js';
import { CurrentActor, RequiresScope } from '../auth/decorators.js';
import { Problems } from '../problems/problems.decorator.js';
import { ReceiptBody } from './receipts.contract.js';
import { ReceiptsService } from './receipts.service.js';

@ApiTags('evidence')
@Controller('v1/receipts')
export class ReceiptsController {
  constructor(private readonly receipts: ReceiptsService) {}

  @Get(':id')
  @RequiresScope('consents:read', 'consents:decide', 'audit:read')
  @ApiOperation({ summary: 'The signed statement of one decision' })
  @ApiResponse({ status: 200, standardSchema: ReceiptBody })
  @Problems('receipt_unknown')
  @SerializeOptions({ schema: ReceiptBody })
  get(@CurrentActor() actor: Actor, @Param('id') id: string): Promise<ReceiptBody> {
    return this.receipts.get(actor, id);
  }
}
