/** `/v1/holds`: operators stop the legs of a server or of their tenant, and let them go on. */

import { Controller, Delete, Get, HttpCode, Param, Put, SerializeOptions } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Actor } from '../auth/actor.js';
import { CurrentActor, RequiresScope } from '../auth/decorators.js';
import { Problems } from '../problems/problems.decorator.js';
import { HoldBody, HoldsBody } from './holds.contract.js';
import { HoldsService } from './holds.service.js';

@ApiTags('holds')
@Controller('v1/holds')
export class HoldsController {
  constructor(private readonly holds: HoldsService) {}

  @Get()
  @RequiresScope('calls:operate', 'servers:operate')
  @ApiOperation({ summary: 'What is held' })
  @ApiResponse({ status: 200, standardSchema: HoldsBody })
  @Problems('store_unavailable')
  @SerializeOptions({ schema: HoldsBody })
  list(@CurrentActor() actor: Actor): Promise<HoldsBody> {
    return this.holds.list(actor);
  }

  @Put('tenant')
  @RequiresScope('calls:operate')
  @ApiOperation({ summary: 'Hold my tenant: none of its legs is sent until it is released' })
  @ApiResponse({ status: 200, standardSchema: HoldBody })
  @Problems('store_unavailable')
  @SerializeOptions({ schema: HoldBody })
  holdTenant(@CurrentActor() actor: Actor): Promise<HoldBody> {
    return this.holds.set(actor, { tenant: actor.tenant });
  }

  @Delete('tenant')
  @HttpCode(204)
  @RequiresScope('calls:operate')
  @ApiOperation({ summary: 'Release my tenant: its calls go on' })
  @ApiResponse({ status: 204 })
  @Problems('store_unavailable')
  releaseTenant(@CurrentActor() actor: Actor): Promise<void> {
    return this.holds.lift(actor, { tenant: actor.tenant });
  }

  @Put('servers/:id')
  @RequiresScope('servers:operate')
  @ApiOperation({ summary: 'Hold a server for every tenant: no leg is sent to it until it is released' })
  @ApiParam({ name: 'id', type: String })
  @ApiResponse({ status: 200, standardSchema: HoldBody })
  @Problems('server_absent', 'store_unavailable')
  @SerializeOptions({ schema: HoldBody })
  holdServer(@CurrentActor() actor: Actor, @Param('id') server: string): Promise<HoldBody> {
    return this.holds.set(actor, { server });
  }

  @Delete('servers/:id')
  @HttpCode(204)
  @RequiresScope('servers:operate')
  @ApiOperation({ summary: 'Release a server: calls that wait for it go on' })
  @ApiParam({ name: 'id', type: String })
  @ApiResponse({ status: 204 })
  @Problems('server_absent', 'store_unavailable')
  releaseServer(@CurrentActor() actor: Actor, @Param('id') server: string): Promise<void> {
    return this.holds.lift(actor, { server });
  }
}
